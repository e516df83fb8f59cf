"""Gaussian beam through a list of optical elements: config tuples, functools.reduce, operators on a small class."""
import functools
import numpy as np


class Ray:
    __slots__ = ("m",)

    def __init__(self, a, b, c, d):
        self.m = (a, b, c, d)

    def __matmul__(self, o):
        a, b, c, d = self.m
        e, f, g, h = o.m
        return Ray(a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)

    def __repr__(self):
        return "Ray(%r, %r, %r, %r)" % self.m


ELEMENTS = {
    "space": lambda L, n=1.0: Ray(1, L / n, 0, 1),
    "lens": lambda f: Ray(1, 0, -1 / f, 1),
    "mirror": lambda R: Ray(1, 0, -2 / R, 1),
    "slab": lambda L, *, n: ELEMENTS["space"](L, n=n),
}


def spot(lengths, f1, f2, wavelength=1.064e-3):
    layout = [("space", (lengths[0],), {}), ("lens", (f1,), {}), ("slab", (lengths[1],), {"n": 1.5}), ("lens", (f2,), {}), ("space", lengths[2:], {})]
    m = functools.reduce(lambda acc, e: ELEMENTS[e[0]](*e[1], **e[2]) @ acc, layout, Ray(1, 0, 0, 1))
    a, b, c, d = m.m
    zr = np.pi * 0.5 ** 2 / wavelength
    # q = i zr
    den = (c * zr) ** 2 + d ** 2
    re = (a * c * zr ** 2 + b * d) / den
    im = zr * (a * d - b * c) / den
    w = np.sqrt(wavelength / np.pi * (re ** 2 + im ** 2) / im)
    return w


def example():
    return spot, (np.array([120.0, 15.0, 95.0]), 100.0, 80.0), (0, 1, 2)
