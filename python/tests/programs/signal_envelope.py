"""Envelope and instantaneous frequency from a discrete Hilbert transform by an explicit matrix; chirp rate by regression."""

import numpy as np


def hilbert_matrix(n):
    H = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if (i - j) % 2:
                H[i, j] = 2.0 / n / np.tan(np.pi * (i - j) / n)
    return H


def analytic(x):
    y = hilbert_matrix(len(x)) @ x
    return np.sqrt(x**2 + y**2), np.arctan2(y, x)


def unwrap(phase):
    out = [phase[0]]
    offset = 0.0
    for a, b in zip(phase[:-1], phase[1:]):
        jump = b - a
        if jump > np.pi:
            offset -= 2 * np.pi
        elif jump < -np.pi:
            offset += 2 * np.pi
        out.append(b + offset)
    return np.array(out)


def chirp_rate(x, dt=0.05):
    env, phase = analytic(x)
    phi = unwrap(phase)
    t = dt * np.arange(len(x))
    freq = np.gradient(phi, dt) / (2 * np.pi)
    w = env**2 / np.sum(env**2)
    tm, fm = w @ t, w @ freq
    return (w @ ((t - tm) * (freq - fm))) / (w @ (t - tm) ** 2)


def example():
    t = 0.05 * np.arange(32)
    return chirp_rate, (np.exp(-((t - 0.8) ** 2)) * np.cos(2 * np.pi * (2 * t + 1.0 * t**2)),), 0
