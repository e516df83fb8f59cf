"""Wavelet shrinkage: Haar's transform in place by halving, soft thresholds, and back."""

import numpy as np


def haar(x):
    out = x.astype(float).copy()
    n = len(out)
    while n > 1:
        half = n // 2
        even, odd = out[0:n:2].copy(), out[1:n:2].copy()
        out[:half] = (even + odd) / np.sqrt(2)
        out[half:n] = (even - odd) / np.sqrt(2)
        n = half
    return out


def ihaar(c):
    out = c.copy()
    n = 2
    while n <= len(out):
        half = n // 2
        s, d = out[:half].copy(), out[half:n].copy()
        out[0:n:2] = (s + d) / np.sqrt(2)
        out[1:n:2] = (s - d) / np.sqrt(2)
        n *= 2
    return out


def shrink(c, t):
    return np.sign(c) * np.maximum(np.abs(c) - t, 0)


def risk(threshold, noisy, clean):
    c = haar(noisy)
    c[1:] = shrink(c[1:], threshold)
    return np.sum((ihaar(c) - clean) ** 2)


def example():
    rng = np.random.default_rng(20)
    clean = np.repeat([0.0, 1.0, -0.5, 2.0], 4)
    return risk, (0.25, clean + 0.3 * rng.normal(size=16), clean), (0, 1)
