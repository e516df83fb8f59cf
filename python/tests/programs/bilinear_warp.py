"""An affine warp of an image by bilinear sampling at flat indices, and its difference from a target."""

import numpy as np


def bilinear(img, x, y):
    h, w = img.shape
    x0 = np.floor(x).astype(int)
    y0 = np.floor(y).astype(int)
    x1, y1 = x0 + 1, y0 + 1
    x0c, x1c = np.clip(x0, 0, w - 1), np.clip(x1, 0, w - 1)
    y0c, y1c = np.clip(y0, 0, h - 1), np.clip(y1, 0, h - 1)
    wa = (x1 - x) * (y1 - y)
    wb = (x1 - x) * (y - y0)
    wc = (x - x0) * (y1 - y)
    wd = (x - x0) * (y - y0)
    return wa * img[y0c, x0c] + wb * img[y1c, x0c] + wc * img[y0c, x1c] + wd * img[y1c, x1c]


def warp_loss(theta, img, target):
    h, w = img.shape
    ys, xs = np.meshgrid(np.arange(h), np.arange(w), indexing="ij")
    A = np.array([[1 + theta[0], theta[1], theta[2]], [theta[3], 1 + theta[4], theta[5]]])
    coords = np.stack([xs.ravel(), ys.ravel(), np.ones(h * w)])
    xw, yw = A @ coords
    warped = bilinear(img, xw, yw).reshape(h, w)
    return 0.5 * ((warped - target) ** 2).sum()


def example():
    rng = np.random.default_rng(4)
    return warp_loss, (np.array([0.02, -0.03, 0.31, 0.04, -0.01, 0.27]), rng.random((6, 7)), rng.random((6, 7))), (0, 1)
