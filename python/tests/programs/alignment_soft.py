"""Needleman and Wunsch with affine gaps and a soft maximum, scores from a dictionary by letters."""

import numpy as np

LETTERS = {c: i for i, c in enumerate("ACGT")}


def softmax3(a, b, c, t):
    m = max(a, b, c)
    return m + t * np.log(np.exp((a - m) / t) + np.exp((b - m) / t) + np.exp((c - m) / t))


def align(seq1, seq2, scores, gap_open, gap_extend, t=0.5):
    n, m = len(seq1), len(seq2)
    NEG = -1e6
    M = [[NEG] * (m + 1) for _ in range(n + 1)]
    X = [[NEG] * (m + 1) for _ in range(n + 1)]
    Y = [[NEG] * (m + 1) for _ in range(n + 1)]
    M[0][0] = 0.0
    for i in range(1, n + 1):
        X[i][0] = -gap_open - gap_extend * (i - 1)
    for j in range(1, m + 1):
        Y[0][j] = -gap_open - gap_extend * (j - 1)
    for i, a in enumerate(seq1, start=1):
        for j, b in enumerate(seq2, start=1):
            s = scores[LETTERS[a], LETTERS[b]]
            M[i][j] = s + softmax3(M[i - 1][j - 1], X[i - 1][j - 1], Y[i - 1][j - 1], t)
            X[i][j] = softmax3(M[i - 1][j] - gap_open, X[i - 1][j] - gap_extend, NEG, t)
            Y[i][j] = softmax3(M[i][j - 1] - gap_open, Y[i][j - 1] - gap_extend, NEG, t)
    return softmax3(M[n][m], X[n][m], Y[n][m], t)


def score(scores, gap_open, gap_extend, pairs):
    return sum(align(a, b, scores, gap_open, gap_extend) for a, b in pairs)


def example():
    S = 2.0 * np.eye(4) - 1.0 + 0.1 * np.arange(16).reshape(4, 4)
    return score, (S, 2.0, 0.5, [("ACGT", "AGT"), ("GAT", "GCAT")]), (0, 1, 2)
