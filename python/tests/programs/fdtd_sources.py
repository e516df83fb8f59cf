"""Maxwell's equations on a line with a list of sources, a lossy layer and absorbing ends."""

import numpy as np


class Source:
    def __init__(self, position, amplitude, t0=10.0, spread=4.0):
        self.position = position
        self.amplitude = amplitude
        self.t0 = t0
        self.spread = spread

    def __call__(self, t):
        return self.amplitude * np.exp(-0.5 * ((t - self.t0) / self.spread) ** 2)


def simulate(eps_r, sigma, sources, nt):
    n = len(eps_r)
    ez = np.zeros(n)
    hy = np.zeros(n - 1)
    ca = (1 - 0.5 * sigma / eps_r) / (1 + 0.5 * sigma / eps_r)
    cb = 0.5 / eps_r / (1 + 0.5 * sigma / eps_r)
    left = [0.0, 0.0]
    right = [0.0, 0.0]
    record = np.zeros(nt)
    for t in range(nt):
        ez[1:-1] = ca[1:-1] * ez[1:-1] + cb[1:-1] * (hy[1:] - hy[:-1])
        for s in sources:
            ez[s.position] += s(t)
        ez[0] = left.pop(0)
        left.append(ez[1])
        ez[-1] = right.pop(0)
        right.append(ez[-2])
        hy += 0.5 * (ez[1:] - ez[:-1])
        record[t] = ez[-5]
    return record


def energy(eps_layer, sigma_layer, amplitude, n=30, nt=40):
    eps = np.ones(n)
    eps[15:22] = eps_layer
    sigma = np.zeros(n)
    sigma[15:22] = sigma_layer
    sources = [Source(5, amplitude), Source(8, 0.5 * amplitude, t0=14.0)]
    return np.sum(simulate(eps, sigma, sources, nt) ** 2)


def example():
    return energy, (3.0, 0.1, 1.0), (0, 1, 2)
