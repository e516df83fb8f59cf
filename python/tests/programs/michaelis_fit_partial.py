"""Progress curves of an enzyme by functools.partial of a rate law, integrated with Heun steps of a given number."""

from functools import partial

import numpy as np


def michaelis(S, Vmax, Km):
    return Vmax * S / (Km + S)


def inhibited(S, Vmax, Km, Ki):
    return Vmax * S / (Km + S * (1 + S / Ki))


def heun(rate, S0, times, n_sub):
    S = S0
    values = [S]
    for t0, t1 in zip(times, times[1:]):
        h = (t1 - t0) / n_sub
        for _ in range(n_sub):
            k1 = -rate(S)
            k2 = -rate(S + h * k1)
            S = S + h * (k1 + k2) / 2
        values.append(S)
    return values


def negative_log_likelihood(log_params, S0, times, curve, law="michaelis", sigma=0.05, n_sub=4):
    p = np.exp(log_params)
    laws = {"michaelis": partial(michaelis, Vmax=p[0], Km=p[1]), "inhibited": lambda S: inhibited(S, *p)}
    predicted = np.asarray(heun(laws[law], S0, times, n_sub))
    z = (predicted - curve) / sigma
    return 0.5 * np.sum(z**2) + len(z) * np.log(sigma)


def example():
    times = [0.0, 0.5, 1.0, 2.0, 4.0]
    curve = np.array([2.0, 1.6, 1.25, 0.7, 0.2])
    return negative_log_likelihood, (np.log(np.array([1.1, 0.8, 5.0])), 2.0, times, curve, "inhibited"), (0, 1)
