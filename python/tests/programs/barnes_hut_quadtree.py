"""Gravity with a quadtree made of the starting points (recursion, classes), potential of moved charges by monopoles."""
import numpy as np


class Node:
    def __init__(self, center, half, ids):
        self.center, self.half, self.ids = center, half, ids
        self.children = []

    @property
    def leaf(self):
        return not self.children


def build(points, center, half, ids, cap=2):
    node = Node(center, half, ids)
    if len(ids) > cap:
        for sx in (-1, 1):
            for sy in (-1, 1):
                sub = [i for i in ids if (points[i, 0] >= center[0]) == (sx > 0) and (points[i, 1] >= center[1]) == (sy > 0)]
                if sub:
                    node.children.append(build(points, (center[0] + sx * half / 2, center[1] + sy * half / 2), half / 2, sub, cap))
    return node


def potential(node, mass, x, p, i, theta):
    m = sum(mass[k] for k in node.ids)
    com = sum(mass[k] * x[k] for k in node.ids) / m
    d = np.hypot(*(com - p))
    if node.leaf:
        return -sum(mass[k] / np.sqrt(np.sum((x[k] - p) ** 2) + 1e-2) for k in node.ids if k != i)
    if i not in node.ids and 2 * node.half / d < theta:
        return -m / np.sqrt(d ** 2 + 1e-2)
    return sum(potential(c, mass, x, p, i, theta) for c in node.children)


def total(mass, x, x_ref, theta=0.7):
    root = build(x_ref, (0.0, 0.0), 2.0, list(range(len(x_ref))))
    return 0.5 * sum(mass[i] * potential(root, mass, x, x[i], i, theta) for i in range(len(x)))


def example():
    rng = np.random.default_rng(5)
    x = rng.uniform(-2, 2, (9, 2))
    return total, (rng.uniform(0.5, 1.5, 9), x + 0.01, x), (0, 1)
