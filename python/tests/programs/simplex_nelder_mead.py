"""A few steps of Nelder and Mead: the simplex is a list of points that is sorted by value, and shrinks or expands."""

import numpy as np


def rosen(p, a):
    return (a[0] - p[0]) ** 2 + a[1] * (p[1] - p[0] ** 2) ** 2


def nelder_mead(start, a, steps):
    simplex = [start, start + np.array([0.3, 0.0]), start + np.array([0.0, 0.4])]
    for _ in range(steps):
        simplex = sorted(simplex, key=lambda p: rosen(p, a))
        best, middle, worst = simplex
        centre = 0.5 * (best + middle)
        reflected = 2 * centre - worst
        if rosen(reflected, a) < rosen(best, a):
            expanded = 3 * centre - 2 * worst
            worst = expanded if rosen(expanded, a) < rosen(reflected, a) else reflected
        elif rosen(reflected, a) < rosen(middle, a):
            worst = reflected
        else:
            worst = 0.5 * (centre + worst)
        simplex = [best, middle, worst]
    return min(rosen(p, a) for p in simplex) + 0.01 * np.sum(np.array(simplex))


def example():
    return nelder_mead, (np.array([-0.4, 0.6]), np.array([1.1, 3.0]), 8), (0, 1)
