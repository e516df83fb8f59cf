"""Two species in a chemostat by a stiff method (Rosenbrock, second order) with its Jacobian by hand."""

import numpy as np


class Chemostat:
    def __init__(self, D, S_in, species):
        self.D, self.S_in, self.species = D, S_in, species

    def growth(self, S):
        return np.array([sp["mu"] * S / (sp["K"] + S) for sp in self.species])

    def dgrowth(self, S):
        return np.array([sp["mu"] * sp["K"] / (sp["K"] + S) ** 2 for sp in self.species])

    def f(self, y):
        S, X = y[0], y[1:]
        g = self.growth(S)
        Y = np.array([sp["Y"] for sp in self.species])
        return np.concatenate([[self.D * (self.S_in - S) - np.sum(g * X / Y)], (g - self.D) * X])

    def jac(self, y):
        S, X = y[0], y[1:]
        g, dg = self.growth(S), self.dgrowth(S)
        Y = np.array([sp["Y"] for sp in self.species])
        n = len(y)
        J = np.zeros((n, n))
        J[0, 0] = -self.D - np.sum(dg * X / Y)
        J[0, 1:] = -g / Y
        J[1:, 0] = dg * X
        J[1:, 1:] = np.diag(g - self.D)
        return J

    def ros2(self, y, h):
        gamma = 1 + 1 / np.sqrt(2)
        W = np.eye(len(y)) - gamma * h * self.jac(y)
        k1 = np.linalg.solve(W, self.f(y))
        k2 = np.linalg.solve(W, self.f(y + h * k1) - 2 * k1)
        return y + 1.5 * h * k1 + 0.5 * h * k2


def biomass(D, S_in, species, y0, n=15, h=0.2):
    model = Chemostat(D, S_in, species)
    y = y0
    for _ in range(n):
        y = model.ros2(y, h)
    return y[1:].sum() - 0.1 * y[0]


def example():
    species = [{"mu": 0.8, "K": 0.5, "Y": 0.4}, {"mu": 0.6, "K": 0.2, "Y": 0.5}]
    return biomass, (0.3, 2.0, species, np.array([1.0, 0.2, 0.3])), (0, 1, 2, 3)
