"""Gotoh alignment with affine gaps, three matrices, traceback for the identity (strings)."""
import numpy as np


def align(scores, s1, s2):
    match, mismatch, gopen, gext = scores
    n, m = len(s1), len(s2)
    M = np.full((n + 1, m + 1), -1e9)
    X, Y = M.copy(), M.copy()
    M[0, 0] = 0.0
    for i in range(1, n + 1):
        X[i, 0] = -gopen - (i - 1) * gext
    for j in range(1, m + 1):
        Y[0, j] = -gopen - (j - 1) * gext
    for i, a in enumerate(s1, start=1):
        for j, b in enumerate(s2, start=1):
            sub = match if a == b else -mismatch
            M[i, j] = sub + max(M[i - 1, j - 1], X[i - 1, j - 1], Y[i - 1, j - 1])
            X[i, j] = max(M[i - 1, j] - gopen, X[i - 1, j] - gext)
            Y[i, j] = max(M[i, j - 1] - gopen, Y[i, j - 1] - gext)
    return max(M[n, m], X[n, m], Y[n, m])


def example():
    return align, (np.array([1.9, 1.1, 2.3, 0.4]), "GATTAC", "GCATG"), 0
