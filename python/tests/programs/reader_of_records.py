"""A binary-like stream of numbers is read by an iterator: a header says how many values each record has."""

import numpy as np


def records(values, lengths):
    stream = iter(values)
    for length in lengths:
        kind = next(stream)
        yield kind, [next(stream) for _ in range(length)]


def summary(values):
    total, seen = 0.0, 0
    for kind, items in records(values, [3, 1, 2]):
        items = iter(items)
        first = next(items)
        rest = sum(items)
        total += kind * first**2 + np.sin(rest)
        seen += 1
    return total / seen


def example():
    return summary, (np.array([0.5, 1.0, 2.0, -0.3, 1.5, 0.7, 0.2, -1.1, 0.9]),), (0,)
