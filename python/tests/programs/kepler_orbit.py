"""Positions of a planet from orbital elements: Kepler's equation by Newton's method until it converges."""

import math

import numpy as np


def eccentric_anomaly(M, e, tol=1e-12, maxiter=50):
    E = M if e < 0.8 else math.pi
    it = 0
    while True:
        f = E - e * math.sin(E) - M
        fp = 1 - e * math.cos(E)
        dE = f / fp
        E -= dE
        it += 1
        if abs(dE) < tol or it >= maxiter:
            break
    return E


def position(elements, t, mu=4 * math.pi**2):
    a, e, omega, M0 = elements
    n = math.sqrt(mu / a**3)
    M = M0 + n * t
    E = eccentric_anomaly(M, e)
    nu = 2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2))
    r = a * (1 - e * math.cos(E))
    return r * math.cos(nu + omega), r * math.sin(nu + omega)


def chi2(elements, times, obs, sigma=0.01):
    total = 0.0
    for t, (x_obs, y_obs) in zip(times, obs):
        x, y = position(elements, t)
        total += ((x - x_obs) ** 2 + (y - y_obs) ** 2) / sigma**2
    return 0.5 * total


def example():
    times = np.linspace(0.0, 0.8, 6)
    truth = np.array([1.1, 0.3, 0.4, 0.2])
    obs = np.array([position(truth, t) for t in times])
    return chi2, (np.array([1.08, 0.28, 0.42, 0.21]), times, obs), 0
