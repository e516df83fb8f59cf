"""Continued fractions by a class of fractions with operators, comparisons and conversion; traced numerators."""

import numpy as np


class Fraction:
    def __init__(self, top, bottom=1.0):
        self.top, self.bottom = top, bottom

    def __add__(self, other):
        if not isinstance(other, Fraction):
            other = Fraction(other)
        return Fraction(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    __radd__ = __add__

    def __truediv__(self, other):
        return Fraction(self.top * other.bottom, self.bottom * other.top)

    def __lt__(self, other):
        return float(self) < float(other)

    def __float__(self):
        return self.top / self.bottom


def continued(terms):
    value = Fraction(terms[-1])
    for term in terms[-2::-1]:
        value = term + Fraction(1.0) / value
    return value


def difference(first, second):
    a, b = continued(first), continued(second)
    if a < b:
        a, b = b, a
    return float(a) - 0.5 * float(b)


def example():
    return difference, (np.array([1.0, 2.3, 0.7, 1.9]), np.array([1.4, 0.6, 3.1])), (0, 1)
