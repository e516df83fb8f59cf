"""An echo state network: a fixed random reservoir from a seed, a readout by ridge regression, washout dropped."""

import numpy as np


class Reservoir:
    def __init__(self, n, spectral_radius, leak, input_scale, seed=3):
        rng = np.random.default_rng(seed)
        W = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5)
        self.W = W * spectral_radius / np.max(np.abs(np.linalg.eigvals(W)))
        self.Win = input_scale * rng.uniform(-1, 1, size=(n, 2))
        self.leak = leak
        self.state = np.zeros(n)

    def step(self, u):
        pre = self.Win @ np.array([1.0, u]) + self.W @ self.state
        self.state = (1 - self.leak) * self.state + self.leak * np.tanh(pre)
        return self.state

    def run(self, inputs, washout):
        states = [self.step(u) for u in inputs]
        return np.array(states[washout:])


def train_error(leak, input_scale, ridge, signal, n=6, washout=5):
    res = Reservoir(n, 0.9, leak, input_scale)
    X = res.run(signal[:-1], washout)
    Y = signal[washout + 1 :]
    w = np.linalg.solve(X.T @ X + ridge * np.eye(n), X.T @ Y)
    return np.mean((X @ w - Y) ** 2)


def example():
    t = np.arange(30)
    return train_error, (0.6, 0.8, 1e-2, np.sin(0.4 * t) * np.cos(0.13 * t)), (0, 1, 2, 3)
