"""Rain and runoff: a store that overflows, a unit hydrograph by np.convolve, Nash and Sutcliffe's efficiency."""

import numpy as np


def bucket(rain, pet, smax, kb, s0=20.0):
    storage = s0
    quick = np.zeros(rain.size)
    base = np.zeros(rain.size)
    for day in range(rain.size):
        storage += rain[day]
        if storage > smax:
            quick[day] = storage - smax
            storage = smax
        evap = min(pet[day] * storage / smax, storage)
        storage -= evap
        base[day] = kb * storage
        storage -= base[day]
    return quick, base


def hydrograph(length, n=5):
    t = np.arange(1, n + 1)
    w = t * np.exp(-t / length)
    return w / w.sum()


def one_minus_nse(params, rain, pet, observed):
    smax, kb, length = params
    quick, base = bucket(rain, pet, smax, kb)
    flow = np.convolve(quick, hydrograph(length))[: rain.size] + base
    return np.sum((flow - observed) ** 2) / np.sum((observed - observed.mean()) ** 2)


def example():
    rng = np.random.default_rng(35)
    rain = rng.gamma(0.7, 9.0, 25)
    observed = 2 + 0.4 * np.convolve(rain, [0.2, 0.5, 0.3])[:25]
    return one_minus_nse, (np.array([32.0, 0.05, 1.5]), rain, np.full(25, 2.0), observed), 0
