"""Rays through a stack of spherical surfaces; a ray that misses is left out."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Surface:
    z: float
    radius: float
    index: float


def trace(height, surfaces):
    y, z, angle, n = height, 0.0, 0.0, 1.0
    for s in surfaces:
        centre = s.z + s.radius
        # where the ray meets the sphere
        dy, dz = np.sin(angle), np.cos(angle)
        b = y * dy + (z - centre) * dz
        c = y**2 + (z - centre) ** 2 - s.radius**2
        disc = b * b - c
        if disc < 0:
            return None
        t = -b - np.sign(s.radius) * np.sqrt(disc)
        y, z = y + t * dy, z + t * dz
        normal = np.arcsin(y / s.radius)
        incidence = angle + normal
        angle = np.arcsin(n / s.index * np.sin(incidence)) - normal
        n = s.index
    return y, z, angle


def spot(r1, r2, glass, screen=20.0):
    surfaces = [Surface(1.0, r1, glass), Surface(1.5, r2, 1.0)]
    total, count = 0.0, 0
    for height in (0.2, 0.5, 0.8, 1.1):
        ray = trace(height, surfaces)
        if ray is None:
            continue
        y, z, angle = ray
        total += (y + np.tan(angle) * (screen - z)) ** 2
        count += 1
    return total / count


def example():
    return spot, (12.0, -15.0, 1.5), (0, 1, 2)
