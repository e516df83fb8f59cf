"""A decay curve fitted by Levenberg-Marquardt with damping that goes up and down; the fit's dependence on the data."""

import numpy as np


def model(p, t):
    return p[0] * np.exp(-p[1] * t) + p[2]


def jac(p, t):
    e = np.exp(-p[1] * t)
    return np.column_stack((e, -p[0] * t * e, np.ones_like(t)))


def lm(t, y, p0, max_iter=30, lam=1e-2):
    p = np.array(p0, dtype=float)
    r = y - model(p, t)
    chi = r @ r
    for it in range(max_iter):
        J = jac(p, t)
        A = J.T @ J
        g = J.T @ r
        step = np.linalg.solve(A + lam * np.diag(np.diag(A)), g)
        r_new = y - model(p + step, t)
        chi_new = r_new @ r_new
        if chi_new < chi:
            done = chi - chi_new < 1e-14
            p = p + step
            r, chi = r_new, chi_new
            lam *= 0.3
            if done:
                break
        else:
            lam *= 4.0
    return p, chi


def half_life(y, t):
    p, chi = lm(t, y, [1.0, 0.5, 0.0])
    return np.log(2) / p[1]


def example():
    rng = np.random.default_rng(14)
    t = np.linspace(0, 5, 12)
    return half_life, (2.0 * np.exp(-0.8 * t) + 0.3 + 0.02 * rng.normal(size=12), t), 0
