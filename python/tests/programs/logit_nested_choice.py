"""Nested logit likelihood: nests in a dict of lists, scale per nest, utilities by string names of parameters."""
import numpy as np
from math import exp, log

NESTS = {"public": ["bus", "train"], "private": ["car"], "active": ["walk", "bike"]}


def utility(beta, mode, obs):
    u = beta.get("asc_" + mode, 0.0)
    u += beta["cost"] * obs["cost"][mode] + beta["time"] * obs["time"][mode]
    return u


def loglik(beta, scale, data):
    ll = 0.0
    for obs in data:
        inclusive, within = {}, {}
        for nest, modes in NESTS.items():
            lam = scale[nest]
            e = {m: np.exp(utility(beta, m, obs) / lam) for m in modes}
            s = sum(e.values())
            inclusive[nest] = lam * np.log(s)
            within.update({m: v / s for m, v in e.items()})
        denom = np.log(np.sum([np.exp(v) for v in inclusive.values()]))
        nest = next(k for k, v in NESTS.items() if obs["choice"] in v)
        ll += np.log(within[obs["choice"]]) + inclusive[nest] - denom
    return -ll / len(data)


def example():
    rng = np.random.default_rng(0)
    modes = [m for v in NESTS.values() for m in v]
    data = [{"cost": dict(zip(modes, rng.uniform(0, 3, 5))), "time": dict(zip(modes, rng.uniform(0, 2, 5))), "choice": modes[i % 5]} for i in range(6)]
    beta = {"cost": -0.5, "time": -0.8, "asc_car": 0.3, "asc_walk": -0.2}
    return loglik, (beta, {"public": 0.7, "private": 1.0, "active": 0.9}, data), (0, 1)
