"""An optimiser as an object that remembers its best point, chosen among runs from several starts by its value."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Run:
    point: np.ndarray
    value: float = np.inf
    steps: int = 0

    def improve(self, f, rate):
        new = self.point - rate * slope(f, self.point)
        value = f(new)
        if value < self.value:
            self.point, self.value = new, value
        self.steps += 1


def slope(f, p, h=1e-3):
    return np.array([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(len(p))])


def best_of(starts, rate, a):
    f = lambda p: (p[0] ** 2 + p[1] - a[0]) ** 2 + (p[0] + p[1] ** 2 - a[1]) ** 2
    runs = [Run(start) for start in starts]
    for run in runs:
        for _ in range(5):
            run.improve(f, rate)
    best = min(runs, key=lambda run: run.value)
    return best.value + 0.1 * np.sum(best.point) + 0.0 * best.steps


def example():
    return best_of, (np.array([[0.5, 0.2], [-0.7, 1.0], [1.5, -0.4]]), 0.02, np.array([1.1, 0.7])), (0, 1, 2)
