"""Yule-Walker by Levinson and Durbin, then the spectrum of the fitted process, explicit cosines."""

import numpy as np


def autocorr(x, maxlag):
    x = x - x.mean()
    n = len(x)
    return np.array([np.dot(x[: n - k], x[k:]) / n for k in range(maxlag + 1)])


def levinson(r, order):
    a = np.zeros(order + 1)
    a[0] = 1.0
    e = r[0]
    for i in range(1, order + 1):
        acc = r[i]
        for j in range(1, i):
            acc += a[j] * r[i - j]
        k = -acc / e
        prev = a.copy()
        for j in range(1, i):
            a[j] = prev[j] + k * prev[i - j]
        a[i] = k
        e *= 1 - k**2
    return a, e


def spectrum(a, e, freqs):
    k = np.arange(len(a))
    re = (a * np.cos(2 * np.pi * np.outer(freqs, k))).sum(axis=1)
    im = (a * np.sin(2 * np.pi * np.outer(freqs, k))).sum(axis=1)
    return e / (re**2 + im**2)


def peak_sharpness(x, order=4):
    r = autocorr(x, order)
    a, e = levinson(r, order)
    f = np.linspace(0, 0.5, 32)
    p = spectrum(a, e, f)
    return np.log(p.max() / p.mean())


def example():
    rng = np.random.default_rng(41)
    t = np.arange(40)
    return peak_sharpness, (np.sin(0.9 * t) + 0.3 * rng.normal(size=40),), 0
