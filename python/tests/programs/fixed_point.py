"""Kepler's equation by a fixed-point iteration for many mean anomalies."""

import numpy as np


def eccentric_anomaly(M, e):
    E = M
    delta = np.inf
    n = 0
    while delta > 1e-13 and n < 200:
        new = M + e * np.sin(E)
        delta = np.abs(new - E).max()
        E = new
        n += 1
    return E


def positions(elements, times):
    a, e, period = elements
    M = 2 * np.pi * times / period
    E = eccentric_anomaly(M, e)
    x = a * (np.cos(E) - e)
    y = a * np.sqrt(1 - e**2) * np.sin(E)
    return x, y


def misfit(elements, times, observed):
    x, y = positions(elements, times)
    return np.mean((x - observed[0]) ** 2 + (y - observed[1]) ** 2)


def example():
    t = np.linspace(0.1, 3.0, 12)
    return misfit, (np.array([1.0, 0.3, 2.5]), t, np.stack([np.cos(t), np.sin(t)])), 0
