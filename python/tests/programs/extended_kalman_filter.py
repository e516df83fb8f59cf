"""An extended Kalman filter that tracks a range and bearing, as a class with state."""

import numpy as np


class Tracker:
    def __init__(self, x0, P0, q, r):
        self.x = x0
        self.P = P0
        self.Q = q * np.eye(4)
        self.R = np.diag([r, 0.1 * r])
        self.history = []

    def predict(self, dt):
        F = np.eye(4)
        F[0, 2] = dt
        F[1, 3] = dt
        self.x = F @ self.x
        self.P = F @ self.P @ F.T + self.Q

    def update(self, z):
        px, py = self.x[0], self.x[1]
        rho = np.sqrt(px**2 + py**2)
        predicted = np.array([rho, np.arctan2(py, px)])
        J = np.zeros((2, 4))
        J[0, 0] = px / rho
        J[0, 1] = py / rho
        J[1, 0] = -py / rho**2
        J[1, 1] = px / rho**2
        S = J @ self.P @ J.T + self.R
        gain = np.linalg.solve(S, J @ self.P).T
        residual = z - predicted
        self.x = self.x + gain @ residual
        self.P = self.P - gain @ S @ gain.T
        self.history.append(residual @ residual)


def loss(noise, measurements):
    tracker = Tracker(np.array([1.0, 2.0, 0.5, -0.2]), np.eye(4), noise[0], noise[1])
    for k in range(len(measurements)):
        tracker.predict(0.1)
        tracker.update(measurements[k])
    return sum(tracker.history) / len(tracker.history)


def example():
    rng = np.random.default_rng(2)
    t = np.arange(12) * 0.1
    x, y = 1.0 + 0.5 * t, 2.0 - 0.2 * t
    z = np.stack([np.hypot(x, y), np.arctan2(y, x)], axis=1) + 0.05 * rng.normal(size=(12, 2))
    return loss, (np.array([0.01, 0.1]), z), 0
