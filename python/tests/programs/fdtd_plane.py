"""Waves in a plane with a sponge at the edge; fields are attributes of the simulation."""

import numpy as np


class Simulation:
    c = 0.5

    def __init__(self, n, epsilon):
        self.Ez = np.zeros((n, n))
        self.Hx = np.zeros((n, n - 1))
        self.Hy = np.zeros((n - 1, n))
        self.epsilon = epsilon

    def step(self, source):
        self.Hx -= self.c * (self.Ez[:, 1:] - self.Ez[:, :-1])
        self.Hy += self.c * (self.Ez[1:, :] - self.Ez[:-1, :])
        curl = (self.Hy[1:, 1:-1] - self.Hy[:-1, 1:-1]) - (self.Hx[1:-1, 1:] - self.Hx[1:-1, :-1])
        self.Ez[1:-1, 1:-1] += self.c * curl / self.epsilon[1:-1, 1:-1]
        self.Ez[4, 4] += source

    def energy(self):
        return 0.5 * (np.sum(self.epsilon * self.Ez**2) + np.sum(self.Hx**2) + np.sum(self.Hy**2))


def objective(epsilon, pulse):
    sim = Simulation(epsilon.shape[0], epsilon)
    for amplitude in pulse:
        sim.step(amplitude)
    return sim.energy()


def example():
    rng = np.random.default_rng(11)
    return objective, (1.0 + rng.random((10, 10)), np.sin(np.arange(15) / 3.0)), (0, 1)
