"""A knapsack by dynamic programming over integer weights, with soft maxima in place of maxima."""

import numpy as np


def soft_max(a, b, t):
    top = np.maximum(a, b)
    return top + t * np.log(np.exp((a - top) / t) + np.exp((b - top) / t))


def best_value(values, weights, capacity, temperature):
    table = np.zeros((len(values) + 1, capacity + 1))
    for i, (value, weight) in enumerate(zip(values, weights), 1):
        table[i] = table[i - 1]
        for room in range(weight, capacity + 1):
            table[i, room] = soft_max(table[i - 1, room], table[i - 1, room - weight] + value, temperature)
    return table[-1, -1]


def example():
    return best_value, (np.array([1.5, 2.2, 0.7, 3.1, 1.9]), [2, 3, 1, 4, 2], 7, 0.3), (0, 3)
