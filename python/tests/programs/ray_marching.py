"""Spheres rendered by marching rays through a signed distance; a ray ends at a surface or far away."""

import numpy as np


def scene(p, spheres):
    d = 1e9
    for s in spheres:
        d = min(d, np.sqrt(np.sum((p - s[:3]) ** 2)) - s[3])
    return d


def march(origin, direction, spheres):
    t = 0.0
    for _ in range(60):
        d = scene(origin + t * direction, spheres)
        if d < 1e-6:
            break
        t = t + d
        if t > 20.0:
            return 0.0
    return np.exp(-0.2 * t)


def image(spheres, size=4):
    total = 0.0
    for i in range(size):
        for j in range(size):
            u, v = (i - 1.5) / size, (j - 1.5) / size
            direction = np.array([u, v, 1.0]) / np.sqrt(u * u + v * v + 1.0)
            total += march(np.zeros(3), direction, spheres)
    return total / size**2


def example():
    return image, (np.array([[0.1, 0.0, 4.0, 1.0], [-0.8, 0.5, 5.0, 0.7]]),), 0
