"""Dimensions with tolerances as a class with operators: sums, products and functions carry first-order variances along."""

import math

import numpy as np


class Measured:
    def __init__(self, value, variance=0.0):
        self.value, self.variance = value, variance

    @classmethod
    def of(cls, thing):
        return thing if isinstance(thing, cls) else cls(thing)

    def __add__(self, other):
        other = Measured.of(other)
        return Measured(self.value + other.value, self.variance + other.variance)

    __radd__ = __add__

    def __mul__(self, other):
        other = Measured.of(other)
        return Measured(self.value * other.value, self.variance * other.value**2 + other.variance * self.value**2)

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + (-Measured.of(other))

    def __pow__(self, n):
        return Measured(self.value**n, self.variance * (n * self.value ** (n - 1)) ** 2)

    def apply(self, f, df):
        return Measured(f(self.value), self.variance * df(self.value) ** 2)

    def __repr__(self):
        return f"{self.value} ± {math.sqrt(self.variance)}"


def gap(sizes, tolerances, angle):
    parts = [Measured(s, t**2) for s, t in zip(sizes, tolerances)]
    housing, *rest = parts
    slope = Measured(angle, 1e-4).apply(np.cos, lambda a: -np.sin(a))
    clearance = housing * slope - sum(rest)
    return clearance


def quality(sizes, tolerances, angle, price):
    g = gap(sizes, tolerances, angle)
    z = (g**2).value / (g.variance + 1e-6)
    return 1 / (1 + np.exp(-0.01 * z)) - sum(p / t for p, t in zip(price, tolerances)) * 1e-4


def example():
    return quality, (np.array([10.0, 3.0, 2.5, 3.2]), np.array([0.1, 0.05, 0.04, 0.06]), 0.1, [0.1, 0.2, 0.2, 0.1]), (0, 1, 2)
