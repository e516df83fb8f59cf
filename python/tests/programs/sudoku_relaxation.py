"""A relaxed assignment puzzle: probabilities of symbols in cells, penalties of rows, columns and clues given as a string."""

import numpy as np

CLUES = """
1..4
..1.
.3..
4..2
"""


def parse(text):
    rows = [line.strip() for line in text.strip().splitlines()]
    return {(i, j): int(ch) - 1 for i, row in enumerate(rows) for j, ch in enumerate(row) if ch != "."}


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def penalty(logits, sharpness):
    p = softmax(sharpness * logits)
    n = len(p)
    total = 0.0
    for axis in (0, 1):
        total += np.sum((p.sum(axis=axis) - 1) ** 2)
    for bi in range(0, n, 2):
        for bj in range(0, n, 2):
            block = p[bi : bi + 2, bj : bj + 2].reshape(4, n)
            total += np.sum((block.sum(0) - 1) ** 2)
    for (i, j), k in parse(CLUES).items():
        total -= np.log(p[i, j, k])
    entropy = -np.sum(p * np.log(p + 1e-12))
    return total + 0.1 * entropy


def example():
    return penalty, (np.random.default_rng(14).normal(size=(4, 4, 4)), 1.5), (0, 1)
