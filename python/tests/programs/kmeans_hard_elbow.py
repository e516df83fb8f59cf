"""Lloyd's algorithm with hard assignment, empty clusters left where they are, distortion at the end; the data are moved."""

import numpy as np


def assign(points, centres):
    return np.argmin(((points[:, None] - centres[None]) ** 2).sum(axis=2), axis=1)


def lloyd(points, centres, max_iter=10):
    labels = None
    for it in range(max_iter):
        new_labels = assign(points, centres)
        if labels is not None and np.all(new_labels == labels):
            break
        labels = new_labels
        moved = centres.copy()
        for k in range(len(centres)):
            members = labels == k
            if members.any():
                moved[k] = points[members].mean(axis=0)
        centres = moved
    return centres, labels


def distortion(points, centres):
    centres, labels = lloyd(points, centres)
    return np.sum((points - centres[labels]) ** 2) / len(points) + 0.01 * np.sum(centres**2)


def example():
    rng = np.random.default_rng(13)
    points = np.vstack([rng.normal(size=(6, 2)), rng.normal(size=(6, 2)) + 4, rng.normal(size=(6, 2)) + [4, -4]])
    return distortion, (points, points[[0, 6, 12]] + 0.3), (0, 1)
