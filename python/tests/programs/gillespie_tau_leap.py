"""A birth and death process by tau-leaping with given normals, counts kept from going negative by masks."""

import numpy as np


def propensities(x, rates):
    births = rates[0] * np.ones_like(x)
    deaths = rates[1] * x
    conversions = rates[2] * x * (x - 1) / 2
    return births, deaths, conversions


def simulate(rates, x0, noise, tau):
    n_steps, n_react, n_cells = noise.shape
    x = x0.copy()
    stoich = [1, -1, -2]
    for k in range(n_steps):
        change = np.zeros_like(x)
        for s, a, xi in zip(stoich, propensities(x, rates), noise[k]):
            a = np.maximum(a, 1e-9)
            change += s * (a * tau + np.sqrt(a * tau) * xi)
        x = x + change
        x[x < 0] = 0.0
    return x


def moments_misfit(log_rates, x0, noise, tau=0.1, target=(9.0, 8.0)):
    x = simulate(np.exp(log_rates), x0, noise, tau)
    return (x.mean() - target[0]) ** 2 + 0.1 * (x.var(ddof=1) - target[1]) ** 2


def example():
    rng = np.random.default_rng(40)
    return moments_misfit, (np.log([10.0, 0.9, 0.02]), np.full(6, 8.0), rng.normal(size=(10, 3, 6))), (0, 1)
