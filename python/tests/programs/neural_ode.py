"""A neural differential equation whose right-hand side is a closure over a dict of parameters."""

from functools import partial

import numpy as np


def mlp(params, x):
    for W, b in params["hidden"]:
        x = np.tanh(x @ W + b)
    W, b = params["last"]
    return x @ W + b


def odeint(f, y0, ts):
    ys = [y0]
    for t0, t1 in zip(ts[:-1], ts[1:]):
        h = t1 - t0
        k = f(ys[-1], t0)
        ys.append(ys[-1] + h * f(ys[-1] + 0.5 * h * k, t0 + 0.5 * h))
    return np.array(ys)


def field(params, y, t):
    return mlp(params, np.concatenate([y, [np.sin(t)]]))


def loss(params, y0, ts, target):
    trajectory = odeint(partial(field, params), y0, ts)
    return np.mean((trajectory - target) ** 2)


def example():
    rng = np.random.default_rng(35)
    params = {"hidden": [(rng.normal(size=(3, 6)), rng.normal(size=6)), (rng.normal(size=(6, 6)) / 3, np.zeros(6))], "last": (rng.normal(size=(6, 2)), np.zeros(2))}
    return loss, (params, np.array([1.0, 0.0]), np.linspace(0, 1, 9), rng.normal(size=(9, 2))), (0, 1)
