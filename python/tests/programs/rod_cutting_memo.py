"""The best way to cut a rod, by recursion with a dict as memory; prices fall with saturation."""

import numpy as np


def income(prices, saturation, length):
    memory = {}

    def best(n):
        if n == 0:
            return 0.0
        if n not in memory:
            options = [prices[k - 1] * np.exp(-saturation * k) + best(n - k) for k in range(1, min(n, len(prices)) + 1)]
            memory[n] = max(options)
        return memory[n]

    return best(length) + 0.1 * sum(memory.values())


def example():
    return income, (np.array([1.0, 2.6, 3.3, 4.9, 5.3]), 0.02, 9), (0, 1)
