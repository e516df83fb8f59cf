"""Insertion sort with a while loop over known bounds and traced keys, of two arrays together."""

import numpy as np


def insertion_sort(keys, values):
    keys, values = keys.copy(), values.copy()
    for i in range(1, len(keys)):
        key, value = keys[i], values[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1], values[j + 1] = keys[j], values[j]
            j -= 1
        keys[j + 1], values[j + 1] = key, value
    return keys, values


def lorenz(keys, values):
    _, ordered = insertion_sort(keys, values)
    shares = np.cumsum(ordered) / np.sum(ordered)
    return np.sum(shares**2)


def example():
    return lorenz, (np.array([0.4, -0.2, 1.1, 0.3, -0.9]), np.array([1.0, 0.4, 0.7, 1.9, 0.2])), (0, 1)
