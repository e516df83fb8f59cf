"""An image moved by an affine map with bilinear interpolation, compared with another."""

import numpy as np


def sample(image, y, x):
    h, w = image.shape
    y = np.clip(y, 0, h - 1.001)
    x = np.clip(x, 0, w - 1.001)
    y0 = np.floor(y).astype(int)
    x0 = np.floor(x).astype(int)
    fy, fx = y - y0, x - x0
    top = image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx
    bottom = image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx
    return top * (1 - fy) + bottom * fy


def mismatch(transform, moving, fixed):
    h, w = fixed.shape
    yy, xx = np.mgrid[0:h, 0:w]
    y = transform[0, 0] * yy + transform[0, 1] * xx + transform[0, 2]
    x = transform[1, 0] * yy + transform[1, 1] * xx + transform[1, 2]
    return np.mean((sample(moving, y, x) - fixed) ** 2)


def example():
    rng = np.random.default_rng(44)
    return mismatch, (np.array([[0.9, 0.05, 0.3], [-0.04, 1.1, 0.2]]), rng.random((7, 8)), rng.random((7, 8))), (0, 1)
