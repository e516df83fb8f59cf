"""Rays against spheres and a floor: functions that return early None or a hit, the nearest of which is shaded."""

import numpy as np


def hit_sphere(origin, direction, centre, radius):
    offset = origin - centre
    b = offset @ direction
    disc = b * b - offset @ offset + radius * radius
    if disc < 0:
        return None
    t = -b - np.sqrt(disc)
    if t < 1e-6:
        return None
    point = origin + t * direction
    return t, (point - centre) / radius


def hit_floor(origin, direction):
    if direction[1] > -1e-9:
        return None
    return -origin[1] / direction[1], np.array([0.0, 1.0, 0.0])


def brightness(origin, direction, centres, radii, light):
    best, normal = 1e9, np.zeros(3)
    found = hit_floor(origin, direction)
    if found is not None:
        best, normal = found
    for centre, radius in zip(centres, radii):
        found = hit_sphere(origin, direction, centre, radius)
        if found is not None and found[0] < best:
            best, normal = found
    if best > 1e8:
        return 0.1 * direction[1]
    return max(normal @ light, 0.0) / (1.0 + 0.1 * best)


def image(centres, radii, light):
    light = light / np.sqrt(light @ light)
    total = 0.0
    for row in range(4):
        for column in range(4):
            direction = np.array([0.31 * column - 0.5, 0.23 - 0.27 * row, 1.0])
            total += (row + 1) * brightness(np.array([0.0, 1.0, -3.0]), direction / np.linalg.norm(direction), centres, radii, light)
    return total


def example():
    return image, (np.array([[0.1, 0.9, 1.0], [0.9, 0.4, 2.0]]), np.array([0.7, 0.5]), np.array([1.0, 2.0, -1.0])), (0, 1, 2)
