"""Advection with a slope limiter chosen by name from a dict of lambdas."""

import numpy as np

LIMITERS = {
    "minmod": lambda r: np.maximum(0, np.minimum(1, r)),
    "vanleer": lambda r: (r + np.abs(r)) / (1 + np.abs(r)),
    "superbee": lambda r: np.maximum.reduce([np.zeros_like(r), np.minimum(2 * r, 1), np.minimum(r, 2)]),
}


def advect(u, c, limiter, nt):
    phi_of = LIMITERS[limiter]
    for _ in range(nt):
        du = np.roll(u, -1) - u
        du_up = u - np.roll(u, 1)
        safe = np.where(np.abs(du) < 1e-10, 1e-10, du)
        phi = phi_of(du_up / safe)
        flux = u + 0.5 * (1 - c) * phi * du
        u = u - c * (flux - np.roll(flux, 1))
    return u


def profile_error(amplitude, width, c, limiter="vanleer", n=30, nt=10):
    x = np.arange(n) / n
    u0 = amplitude * np.exp(-(((x - 0.5) / width) ** 2)) + 0.2 * np.sin(2 * np.pi * x)
    u = advect(u0.copy(), c, limiter, nt)
    return np.sum((u - u0) ** 2)


def example():
    return profile_error, (1.0, 0.15, 0.4, "vanleer"), (0, 1, 2)
