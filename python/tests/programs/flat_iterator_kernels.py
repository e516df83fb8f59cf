"""A stencil applied through .flat and np.ndindex, with a running norm kept by an iterator over rows."""

import numpy as np


def blur(image, kernel):
    out = np.zeros_like(image)
    padded = np.pad(image, 1, mode="edge")
    for place in np.ndindex(*image.shape):
        window = padded[place[0] : place[0] + 3, place[1] : place[1] + 3]
        out[place] = np.sum(window * kernel)
    return out


def measure(image, kernel):
    out = blur(image, kernel)
    rows = iter(out)
    first = next(rows)
    total = np.sum(first**2)
    for k, row in enumerate(rows, 2):
        total += np.sum(row * first) / k
    weight = 1.0
    for value in out.flat:
        total += weight * value
        weight *= 0.9
    return total


def example():
    rng = np.random.default_rng(41)
    return measure, (rng.normal(size=(4, 5)), np.array([[0.0, 0.1, 0.0], [0.1, 0.6, 0.1], [0.0, 0.1, 0.0]])), (0, 1)
