"""Light time between orbiters by fixed-point iteration to a tolerance, Kepler's equation inside, ranges compared with data."""

import math

import numpy as np


def eccentric_anomaly(M, e, tol=1e-12):
    E = M if e < 0.8 else math.pi
    while True:
        delta = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E = E - delta
        if abs(delta) < tol:
            return E


def position(orbit, t):
    a, e, omega, M0, n = orbit
    E = eccentric_anomaly(M0 + n * t, e)
    x, y = a * (np.cos(E) - e), a * np.sqrt(1 - e**2) * np.sin(E)
    return np.array([x * np.cos(omega) - y * np.sin(omega), x * np.sin(omega) + y * np.cos(omega)])


def light_time(sender, receiver, t, c=20.0):
    tau, last = 0.0, None
    for _ in range(15):
        d = position(receiver, t) - position(sender, t - tau)
        tau = np.hypot(*d) / c
        if last is not None and abs(tau - last) < 1e-13:
            break
        last = tau
    return tau


def residual(sender, receiver, times, measured):
    return sum((light_time(sender, receiver, t) - m) ** 2 for t, m in zip(times, measured))


def example():
    return residual, (np.array([1.0, 0.1, 0.3, 0.2, 1.0]), np.array([1.6, 0.25, -0.4, 1.0, 0.5]), (0.0, 0.7, 1.9), [0.05, 0.07, 0.1]), (0, 1)
