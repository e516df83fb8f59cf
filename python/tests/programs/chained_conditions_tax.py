"""Taxes by brackets with chained comparisons, ternaries and a table of tuples; what a household keeps."""

import numpy as np

BRACKETS = [(0.0, 1.0, 0.1), (1.0, 2.5, 0.22), (2.5, 5.0, 0.35), (5.0, np.inf, 0.45)]


def tax(income, scale):
    total = 0.0
    for low, high, rate in BRACKETS:
        if low * scale < income <= high * scale:
            total += rate * (income - low * scale)
        elif income > high * scale:
            total += rate * (high - low) * scale
    return total


def welfare(wages, hours, scale):
    total = 0.0
    for wage, worked in zip(wages, hours):
        gross = wage * worked
        net = gross - tax(gross, scale) if not gross < 0.3 else gross * 1.05
        bonus = 0.2 if 0.5 < net < 1.5 or worked > 1.9 else 0.1 * worked
        total += np.log(net + bonus) - 0.1 * worked**2
    return total


def example():
    return welfare, (np.array([0.9, 2.2, 0.4, 5.0]), np.array([1.3, 1.1, 0.6, 1.6]), 1.2), (0, 1, 2)
