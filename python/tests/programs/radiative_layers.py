"""A grey atmosphere of layers to radiative equilibrium by under-relaxed iteration, surface temperature out."""

import numpy as np

SIGMA = 5.67e-8


class Column:
    def __init__(self, tau, albedo, S=1361.0):
        self.tau = np.asarray(tau)
        self.eps = 1 - np.exp(-self.tau)
        self.albedo = albedo
        self.absorbed = S / 4 * (1 - albedo)
        self.T = np.full(len(self.tau) + 1, 255.0)

    def fluxes(self):
        n = len(self.eps)
        up, down = np.zeros(n + 1), np.zeros(n + 1)
        emit = self.eps * SIGMA * self.T[1:] ** 4
        up[0] = SIGMA * self.T[0] ** 4
        for i in range(n):
            up[i + 1] = up[i] * (1 - self.eps[i]) + emit[i]
        for i in range(n - 1, -1, -1):
            down[i] = down[i + 1] * (1 - self.eps[i]) + emit[i]
        return up, down

    def relax(self, rate):
        up, down = self.fluxes()
        n = len(self.eps)
        heating = np.zeros(n + 1)
        heating[0] = self.absorbed + down[0] - up[0]
        for i in range(n):
            heating[i + 1] = self.eps[i] * (up[i] + down[i + 1]) - 2 * self.eps[i] * SIGMA * self.T[i + 1] ** 4
        self.T = self.T + rate * heating
        return np.abs(heating).max()


def surface_temperature(tau, albedo, n_iter=60):
    col = Column(tau, albedo)
    for it in range(n_iter):
        worst = col.relax(0.05)
        if worst < 1e-8:
            break
    return col.T[0]


def example():
    return surface_temperature, (np.array([0.3, 0.4, 0.2]), 0.3), (0, 1)
