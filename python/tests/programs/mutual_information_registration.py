"""Registration of two images by mutual information of a soft joint histogram, over a shift and a rotation."""

import numpy as np


def sample(image, ys, xs):
    h, w = image.shape
    ys, xs = np.clip(ys, 0, h - 1.001), np.clip(xs, 0, w - 1.001)
    y0, x0 = np.floor(ys).astype(int), np.floor(xs).astype(int)
    fy, fx = ys - y0, xs - x0
    return ((1 - fy) * (1 - fx) * image[y0, x0] + (1 - fy) * fx * image[y0, x0 + 1]
            + fy * (1 - fx) * image[y0 + 1, x0] + fy * fx * image[y0 + 1, x0 + 1])


def soft_histogram(a, b, bins=6, width=0.2):
    centres = np.linspace(0, 1, bins)
    wa = np.exp(-0.5 * ((a[:, None] - centres) / width) ** 2)
    wb = np.exp(-0.5 * ((b[:, None] - centres) / width) ** 2)
    wa /= wa.sum(axis=1, keepdims=True)
    wb /= wb.sum(axis=1, keepdims=True)
    return wa.T @ wb / len(a)


def negative_mutual_information(pose, fixed, moving):
    angle, dy, dx = pose
    h, w = fixed.shape
    yy, xx = np.mgrid[0:h, 0:w]
    cy, cx = (h - 1) / 2, (w - 1) / 2
    c, s = np.cos(angle), np.sin(angle)
    ys = c * (yy - cy) - s * (xx - cx) + cy + dy
    xs = s * (yy - cy) + c * (xx - cx) + cx + dx
    p = soft_histogram(fixed.ravel(), sample(moving, ys, xs).ravel())
    px, py = p.sum(1), p.sum(0)
    return -np.sum(p * np.log((p + 1e-12) / (np.outer(px, py) + 1e-12)))


def example():
    y, x = np.mgrid[0:10, 0:12] / 10.0
    fixed = 0.5 + 0.4 * np.sin(3 * x) * np.cos(2 * y)
    moving = 0.5 + 0.4 * np.sin(3 * x + 0.1) * np.cos(2 * y - 0.2)
    return negative_mutual_information, (np.array([0.05, 0.31, -0.22]), fixed, moving), 0
