"""Nested sampling with given points: the worst is replaced by the next that is better, evidence added shell by shell."""

import numpy as np


def log_likelihood(points, centre, width):
    return -0.5 * np.sum(((points - centre) / width) ** 2, axis=-1) - np.log(width) * points.shape[-1]


def log_evidence(centre, width, live, fresh):
    live = live.copy()
    logL = log_likelihood(live, centre, width)
    n = len(live)
    logZ, logX = -np.inf, 0.0
    used = 0
    for i in range(len(fresh)):
        worst = np.argmin(logL)
        shrunk = logX - 1.0 / n
        logw = logX + np.log1p(-np.exp(shrunk - logX)) + logL[worst]
        logZ = np.logaddexp(logZ, logw)
        candidate = fresh[i]
        value = log_likelihood(candidate, centre, width)
        if value > logL[worst]:
            live[worst] = candidate
            logL[worst] = value
            used += 1
        logX = shrunk
    return np.logaddexp(logZ, logX + np.log(np.mean(np.exp(logL)))) + 0.001 * used


def example():
    rng = np.random.default_rng(12)
    return log_evidence, (np.array([0.2, -0.1]), 0.8, rng.uniform(-2, 2, (8, 2)), rng.uniform(-1, 1, (25, 2))), (0, 1)
