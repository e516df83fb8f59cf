"""Three sources taken in turns by iterators in a list until they are empty, as a scheduler does."""

import numpy as np


def round_robin(*sources):
    waiting = [iter(source) for source in sources]
    while waiting:
        still = []
        for source in waiting:
            try:
                value = next(source)
            except StopIteration:
                continue
            yield value
            still.append(source)
        waiting = still


def mixed(a, b, c):
    total, weight = 0.0, 1.0
    for value in round_robin(a, b, c):
        total += weight * value
        weight = weight * 0.9 + 0.01 * value
    return total * weight


def example():
    return mixed, (np.array([1.0, 0.3, -0.2]), np.array([0.4]), np.array([2.0, -0.7, 0.1, 0.6])), (0, 1, 2)
