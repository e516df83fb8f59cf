"""The forward algorithm of a hidden Markov model, in logarithms."""

import numpy as np


def logsumexp(a, axis=None):
    m = np.max(a, axis=axis, keepdims=True)
    s = np.log(np.sum(np.exp(a - m), axis=axis, keepdims=True)) + m
    return np.squeeze(s, axis=axis)


def normalise(logits):
    return logits - logsumexp(logits, axis=-1)[..., None]


def log_likelihood(params, obs):
    log_pi = normalise(params["pi"])
    log_A = normalise(params["A"])
    log_B = normalise(params["B"])
    alpha = log_pi + log_B[:, obs[0]]
    for o in obs[1:]:
        alpha = logsumexp(alpha[:, None] + log_A, axis=0) + log_B[:, o]
    return logsumexp(alpha)


def example():
    rng = np.random.default_rng(4)
    params = {"pi": rng.normal(size=3), "A": rng.normal(size=(3, 3)), "B": rng.normal(size=(3, 5))}
    return log_likelihood, (params, rng.integers(0, 5, size=20)), 0
