"""A tumour under doses at given days: Gompertz's growth, doses in a schedule of tuples, a while loop over events."""

import numpy as np


def grow(V, r, K, dt):
    return V + dt * r * V * np.log(K / V)


def linear_quadratic(dose, alpha, beta):
    return np.exp(-alpha * dose - beta * dose**2)


def treat(params, schedule, V0, T=10.0, dt=0.25):
    r, K, alpha, beta = params["r"], params["K"], params["alpha"], params["beta"]
    events = sorted(schedule)
    t, V = 0.0, V0
    volumes = []
    while t < T - 1e-9:
        while events and events[0][0] <= t:
            day, dose = events.pop(0)
            V = V * linear_quadratic(dose, alpha, beta)
        V = grow(V, r, K, dt)
        t += dt
        volumes.append(V)
    return volumes


def burden(params, schedule, V0):
    volumes = treat(params, schedule, V0)
    return np.trapezoid(np.array(volumes), dx=0.25) / 10 + volumes[-1]


def example():
    params = {"r": 0.15, "K": 50.0, "alpha": 0.1, "beta": 0.02}
    return burden, (params, [(5.0, 1.8), (2.0, 2.0), (7.5, 2.2)], 8.0), (0, 2)
