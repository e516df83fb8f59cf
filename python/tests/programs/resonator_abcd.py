"""A Gaussian beam in a laser cavity by ABCD matrices of the elements, found by name in a table; the beam as a real and an imaginary part."""

from itertools import accumulate
from operator import matmul

import numpy as np

ELEMENTS = {
    "space": lambda d: np.array([[1.0, d], [0.0, 1.0]]),
    "lens": lambda f: np.array([[1.0, 0.0], [-1.0 / f, 1.0]]),
    "mirror": lambda R: np.array([[1.0, 0.0], [-2.0 / R, 1.0]]),
}


def round_trip(layout, values):
    matrices = [ELEMENTS[kind](value) for kind, value in zip(layout, values)]
    return list(accumulate(matrices[::-1], matmul))[-1]


def waist(layout, values, wavelength=1.064e-3):
    (A, B), (C, D) = round_trip(layout, values)
    stability = (A + D) / 2
    assert abs(stability) < 1, f"unstable cavity: {stability:.3f}"
    w2 = wavelength * np.abs(B) / (np.pi * np.sqrt(1 - stability**2))
    return np.sqrt(w2), stability


def design_loss(values, layout, target):
    w, g = waist(layout, values)
    return (w - target) ** 2 * 100 + 0.1 * g**2


def example():
    layout = ("mirror", "space", "lens", "space", "mirror", "space", "lens", "space")
    return design_loss, (np.array([300.0, 80.0, 250.0, 60.0, 400.0, 60.0, 250.0, 80.0]), layout, 0.3), 0
