"""The repressilator with Hill functions, parameters in a dictionary, output sampled at given times."""

import numpy as np

DEFAULTS = dict(alpha=40.0, alpha0=0.2, beta=2.0, n=2.0)


def hill_repression(p, n):
    return 1.0 / (1.0 + p**n)


def derivatives(state, par):
    m, p = state[:3], state[3:]
    dm = np.empty(3)
    for i in range(3):
        j = (i - 1) % 3
        dm[i] = -m[i] + par["alpha"] * hill_repression(p[j], par["n"]) + par["alpha0"]
    dp = -par["beta"] * (p - m)
    return np.hstack((dm, dp))


def simulate(par, t_eval, y0, substeps=8):
    y = y0.copy()
    out = [y]
    for ta, tb in zip(t_eval[:-1], t_eval[1:]):
        h = (tb - ta) / substeps
        for _ in range(substeps):
            k1 = derivatives(y, par)
            k2 = derivatives(y + h * k1 / 2, par)
            k3 = derivatives(y + h * k2 / 2, par)
            k4 = derivatives(y + h * k3, par)
            y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        out.append(y)
    return np.array(out)


def sse(theta, t_eval, y0, data):
    par = dict(DEFAULTS)
    par.update(theta)
    pred = simulate(par, t_eval, y0)[:, 3:]
    return ((np.log1p(pred) - np.log1p(data)) ** 2).sum()


def example():
    t = np.linspace(0, 3, 5)
    y0 = np.array([1.0, 2.0, 0.5, 1.0, 0.3, 2.0])
    rng = np.random.default_rng(2)
    return sse, ({"alpha": 30.0, "n": 2.2}, t, y0, rng.uniform(1, 5, size=(5, 3))), 0
