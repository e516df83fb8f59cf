"""A small ray tracer: spheres in a list, the nearest hit wins, Phong's light, one bounce by recursion."""

import numpy as np


def normalize(v):
    return v / np.linalg.norm(v)


def intersect(origin, direction, center, radius):
    oc = origin - center
    b = 2 * np.dot(direction, oc)
    c = np.dot(oc, oc) - radius**2
    disc = b**2 - 4 * c
    if disc <= 0:
        return None
    t = (-b - np.sqrt(disc)) / 2
    if t < 1e-6:
        return None
    return t


def trace(origin, direction, centers, radii, light, depth=1):
    best, which = np.inf, -1
    for k in range(len(radii)):
        t = intersect(origin, direction, centers[k], radii[k])
        if t is not None and t < best:
            best, which = t, k
    if which < 0:
        return 0.1
    point = origin + best * direction
    n = normalize(point - centers[which])
    to_light = normalize(light - point)
    colour = 0.05 + 0.8 * max(np.dot(n, to_light), 0.0)
    if depth > 0:
        reflected = direction - 2 * np.dot(direction, n) * n
        colour += 0.2 * trace(point + 1e-4 * n, reflected, centers, radii, light, depth - 1)
    return colour


def render_mean(centers, radii, light, res=4):
    eye = np.array([0.0, 0.0, -3.0])
    image = np.zeros((res, res))
    for i, y in enumerate(np.linspace(-0.83, 0.87, res)):
        for j, x in enumerate(np.linspace(-0.85, 0.81, res)):
            image[i, j] = trace(eye, normalize(np.array([x, y, 0.0]) - eye), centers, radii, light)
    return image.mean()


def example():
    centers = np.array([[0.1, 0.05, 0.5], [-0.6, 0.4, 1.2]])
    return render_mean, (centers, np.array([0.7, 0.55]), np.array([2.0, 2.5, -3.0])), (0, 1, 2)
