"""Dynamic time warping in a Sakoe-Chiba band, its path found by going back, the cost summed along it."""

import numpy as np


def dtw(a, b, window):
    n, m = len(a), len(b)
    w = max(window, abs(n - m))
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(max(1, i - w), min(m, i + w) + 1):
            c = (a[i - 1] - b[j - 1]) ** 2
            D[i, j] = c + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D


def warped_distance(a, b, window=3):
    D = dtw(a, b, window)
    i, j = len(a), len(b)
    path = []
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        step = np.argmin([D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]])
        if step == 0:
            i, j = i - 1, j - 1
        elif step == 1:
            i -= 1
        else:
            j -= 1
    return np.sqrt(D[len(a), len(b)]) / len(path)


def example():
    t = np.linspace(0, 3, 9)
    return warped_distance, (np.sin(t), np.sin(1.2 * t + 0.3)), (0, 1)
