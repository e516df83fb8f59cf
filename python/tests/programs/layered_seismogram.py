"""A seismogram of a layered ground: reflection coefficients of impedances, two-way times, Ricker wavelets summed in a trace."""

import numpy as np


def ricker(t, f0):
    a = (np.pi * f0 * t) ** 2
    return (1 - 2 * a) * np.exp(-a)


def reflectivity(velocity, density):
    Z = velocity * density
    return (Z[1:] - Z[:-1]) / (Z[1:] + Z[:-1])


def synthetic(velocity, density, thickness, t, f0=25.0):
    r = reflectivity(velocity, density)
    arrival, transmitted = 0.0, 1.0
    trace = np.zeros_like(t)
    for k, rk in enumerate(r):
        arrival += 2 * thickness[k] / velocity[k]
        trace += transmitted * rk * ricker(t - arrival, f0)
        transmitted *= 1 - rk**2
    return trace


def misfit(velocity, density, thickness, observed, t):
    predicted = synthetic(velocity, density, thickness, t)
    window = (t > 0.02) & (t < 0.35)
    numerator = np.sum(predicted[window] * observed[window])
    return 1 - numerator / np.sqrt(np.sum(predicted[window] ** 2) * np.sum(observed[window] ** 2))


def example():
    t = np.linspace(0, 0.4, 81)
    v, rho, h = np.array([1500.0, 1800.0, 2500.0, 3200.0]), np.array([1.9, 2.1, 2.3, 2.5]), np.array([60.0, 80.0, 100.0])
    observed = synthetic(v * 1.03, rho, h * 0.97, t)
    return misfit, (v, rho, h, observed, t), (0, 1, 2)
