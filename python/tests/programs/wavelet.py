"""A Haar wavelet transform by recursion, and soft thresholding of its details."""

import numpy as np


def haar(x):
    if len(x) == 1:
        return [x]
    approximation = (x[0::2] + x[1::2]) / np.sqrt(2)
    detail = (x[0::2] - x[1::2]) / np.sqrt(2)
    return haar(approximation) + [detail]


def inverse(parts):
    x = parts[0]
    for detail in parts[1:]:
        out = np.empty(2 * len(x))
        out[0::2] = (x + detail) / np.sqrt(2)
        out[1::2] = (x - detail) / np.sqrt(2)
        x = out
    return x


def shrink(d, threshold):
    return np.sign(d) * np.maximum(np.abs(d) - threshold, 0.0)


def risk(threshold, noisy, clean):
    first, *details = haar(noisy)
    denoised = inverse([first] + [shrink(d, threshold) for d in details])
    return np.mean((denoised - clean) ** 2)


def example():
    rng = np.random.default_rng(41)
    clean = np.sin(np.arange(16) / 3.0)
    return risk, (0.2, clean + 0.2 * rng.normal(size=16), clean), (0, 1)
