"""Optimal partitioning by dynamic programming with memo in a dict; costs of segments by cumulative sums."""

import numpy as np


def segment_cost(s1, s2, i, j):
    n = j - i
    total = s1[j] - s1[i]
    return s2[j] - s2[i] - total**2 / n


def best_partition(x, penalty, min_len=2):
    s1 = np.concatenate([[0.0], np.cumsum(x)])
    s2 = np.concatenate([[0.0], np.cumsum(x**2)])
    memo = {0: (-penalty, [])}
    n = len(x)
    for j in range(min_len, n + 1):
        best, where = None, None
        for i in list(memo):
            if j - i < min_len:
                continue
            c = memo[i][0] + segment_cost(s1, s2, i, j) + penalty
            if best is None or c < best:
                best, where = c, i
        if best is not None:
            memo[j] = (best, where)
    return memo[n][0]


def objective(x, penalty):
    return best_partition(x, penalty) / len(x)


def example():
    rng = np.random.default_rng(53)
    x = np.concatenate([rng.normal(0, 0.3, 5), rng.normal(2, 0.3, 4), rng.normal(-1, 0.3, 4)])
    return objective, (x, 0.5), (0, 1)
