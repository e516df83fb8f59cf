"""Linear prediction of a frame by Levinson's recursion, reflection coefficients kept, spectral distance to a target."""

import numpy as np


def autocorrelation(frame, order):
    return np.array([np.dot(frame[: len(frame) - lag], frame[lag:]) for lag in range(order + 1)])


def levinson(r, order):
    a = np.zeros(order + 1)
    a[0] = 1.0
    error = r[0]
    reflections = []
    for i in range(1, order + 1):
        acc = r[i]
        for j in range(1, i):
            acc += a[j] * r[i - j]
        k = -acc / error
        reflections.append(k)
        new = a.copy()
        for j in range(1, i):
            new[j] = a[j] + k * a[i - j]
        new[i] = k
        a = new
        error *= 1 - k * k
    return a, error, reflections


def envelope(a, gain, frequencies):
    re = sum(c * np.cos(k * frequencies) for k, c in enumerate(a))
    im = sum(-c * np.sin(k * frequencies) for k, c in enumerate(a))
    return np.log(gain) - np.log(re**2 + im**2)


def distance(frame, target, order=4):
    windowed = frame * np.hamming(len(frame))
    a, error, reflections = levinson(autocorrelation(windowed, order), order)
    w = np.linspace(0, np.pi, 16)
    return np.mean((envelope(a, error, w) - target) ** 2) + 0.01 * sum(abs(k) for k in reflections)


def example():
    rng = np.random.default_rng(3)
    n = np.arange(32)
    return distance, (np.sin(0.5 * n) + 0.5 * np.cos(1.3 * n) + 0.1 * rng.normal(size=32), np.linspace(2, -2, 16)), 0
