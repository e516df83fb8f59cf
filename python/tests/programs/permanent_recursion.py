"""The permanent of a matrix by recursion over rows, and a determinant by elimination with pivots to compare."""

import numpy as np


def permanent(A, columns=()):
    row = len(columns)
    if row == len(A):
        return 1.0
    return sum(A[row, k] * permanent(A, (*columns, k)) for k in range(len(A)) if k not in columns)


def determinant(A):
    A, sign = A.copy(), 1.0
    for k in range(len(A)):
        pivot = k + np.argmax(np.abs(A[k:, k]))
        if pivot != k:
            A[[k, pivot]] = A[[pivot, k]]
            sign = -sign
        for i in range(k + 1, len(A)):
            A[i, k:] -= A[i, k] / A[k, k] * A[k, k:]
    return sign * np.prod(np.diag(A))


def contrast(A):
    return permanent(A) - 0.5 * determinant(A)


def example():
    return contrast, (np.array([[0.3, 1.2, -0.4, 0.8], [2.0, 0.1, 0.7, -0.6], [-0.5, 0.9, 1.1, 0.2], [0.4, -1.3, 0.6, 1.5]]),), (0,)
