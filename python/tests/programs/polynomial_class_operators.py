"""Polynomials as objects: product by convolution, composition by Horner with __call__, derivative, and a Sturm-like chain."""

import numpy as np


class Poly:
    def __init__(self, c):
        self.c = np.asarray(c)

    def __call__(self, x):
        result = 0.0
        for coefficient in self.c[::-1]:
            result = result * x + coefficient
        return result

    def __mul__(self, other):
        return Poly(np.convolve(self.c, other.c))

    def __sub__(self, other):
        n = max(len(self.c), len(other.c))
        c = np.zeros(n)
        c[: len(self.c)] += self.c
        c[: len(other.c)] -= other.c
        return Poly(c)

    def derivative(self):
        return Poly(self.c[1:] * np.arange(1, len(self.c)))

    def __len__(self):
        return len(self.c)

    def __getitem__(self, k):
        return self.c[k]


def chain(c, x):
    p = Poly(c)
    q = p.derivative()
    total = 0.0
    while len(q) > 1:
        r = p * q - q
        total += r(x) / (1 + abs(q(x)))
        p, q = q, q.derivative()
    return total + p[0] * q[0]


def example():
    return chain, (np.array([0.5, -1.2, 0.3, 0.8]), 0.6), (0, 1)
