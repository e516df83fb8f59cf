"""Needle in a batch: recursion with memo in a dict over (i, j), soft maximum, strings as sequences."""
import numpy as np


def soft(*v, T=0.5):
    v = np.stack(v)
    return T * np.log(np.exp(v / T).sum())


def score(match, gap, a, b):
    memo = {}

    def rec(i, j):
        if i == 0 or j == 0:
            return 0.0
        if (i, j) not in memo:
            s = match if a[i - 1] == b[j - 1] else -match / 2
            memo[i, j] = soft(0.0, rec(i - 1, j - 1) + s, rec(i - 1, j) - gap, rec(i, j - 1) - gap)
        return memo[i, j]

    rec(len(a), len(b))
    return max(memo.values()) + 0.1 * sum(memo.values()) / len(memo)


def example():
    return score, (1.3, 0.8, "TGTTACG", "GGTTGAC"), (0, 1)
