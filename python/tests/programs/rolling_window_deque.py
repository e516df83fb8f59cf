"""A moving median filter with a deque of the last samples, then a Hampel rule that replaces outliers."""

import collections

import numpy as np


def hampel(signal, width, limit):
    window = collections.deque(maxlen=width)
    cleaned = []
    for value in signal:
        window.append(value)
        values = np.sort(np.array(list(window)))
        middle = values[len(values) // 2]
        spread = np.median(np.abs(values - middle)) + 1e-3
        cleaned.append(value if abs(value - middle) < limit * spread else middle)
    return np.array(cleaned)


def roughness(signal, limit):
    cleaned = hampel(signal, 5, limit)
    return np.sum(np.diff(cleaned) ** 2) + 0.1 * np.sum(cleaned)


def example():
    rng = np.random.default_rng(8)
    signal = np.sin(np.linspace(0, 4, 24)) + 0.05 * rng.normal(size=24)
    signal[[5, 13]] += 3.0
    return roughness, (signal, 3.3), 0
