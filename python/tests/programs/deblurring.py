"""Total-variation deblurring of an image: the objective, with a blur by shifted sums."""

import numpy as np


def blur(image, kernel):
    k = kernel.shape[0] // 2
    padded = np.pad(image, k, mode="edge")
    out = np.zeros_like(image)
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            out = out + kernel[i, j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return out


def total_variation(image, eps=1e-3):
    dx = image[:, 1:] - image[:, :-1]
    dy = image[1:, :] - image[:-1, :]
    return np.sum(np.sqrt(dx[:-1, :] ** 2 + dy[:, :-1] ** 2 + eps))


def objective(image, observed, kernel, weight):
    return 0.5 * np.sum((blur(image, kernel) - observed) ** 2) + weight * total_variation(image)


def example():
    rng = np.random.default_rng(22)
    kernel = np.outer([1, 2, 1], [1, 2, 1]) / 16.0
    return objective, (rng.random((8, 9)), rng.random((8, 9)), kernel, 0.05), (0, 2)
