"""An epidemic with parameters in a dict, an intervention on a day, and a curve kept in a list."""

import numpy as np


def simulate(params, days):
    S, E, I, R = 990.0, 0.0, 10.0, 0.0
    curve = []
    for day in range(days):
        beta = params["beta"]
        if day >= 10:
            beta = beta * (1 - params["distancing"])
        new_exposed = beta * S * I / 1000.0
        new_infected = params["sigma"] * E
        recovered = params["gamma"] * I
        S -= new_exposed
        E += new_exposed - new_infected
        I += new_infected - recovered
        R += recovered
        curve.append(new_infected)
    return curve


def loss(params, reported):
    curve = simulate(params, len(reported))
    return sum((np.log1p(c) - np.log1p(r)) ** 2 for c, r in zip(curve, reported))


def example():
    rng = np.random.default_rng(19)
    return loss, ({"beta": 0.5, "sigma": 0.2, "gamma": 0.1, "distancing": 0.4}, 20 * rng.random(25)), 0
