"""The heaviest increasing subsequence by dynamic programming with back pointers that are integers known at run time."""

import numpy as np


def heaviest(keys, weights):
    n = len(keys)
    best = weights.copy()
    back = -np.ones(n, dtype=int)
    for i in range(n):
        for j in range(i):
            if keys[j] < keys[i] and best[j] + weights[i] > best[i]:
                best[i] = best[j] + weights[i]
                back[i] = j
    at = np.argmax(best)
    total, steps = 0.0, 0
    while at >= 0 and steps < n:
        total = total + keys[at] * weights[at]
        at = back[at]
        steps += 1
    return best.max() + 0.1 * total


def example():
    return heaviest, (np.array([0.3, 0.9, 0.1, 0.5, 0.7, 1.2]), np.array([1.0, 0.6, 0.8, 0.4, 1.1, 0.3])), (0, 1)
