"""The evidence bound of a variational autoencoder with noise that is given; parameters in a named tuple."""

from typing import NamedTuple

import numpy as np


class Parameters(NamedTuple):
    encoder: np.ndarray
    mean: np.ndarray
    log_var: np.ndarray
    decoder: np.ndarray
    out: np.ndarray


def softplus(x):
    return np.logaddexp(0.0, x)


def elbo(p, x, noise):
    h = np.tanh(x @ p.encoder)
    mu, log_var = h @ p.mean, h @ p.log_var
    z = mu + np.exp(0.5 * log_var) * noise
    logits = np.tanh(z @ p.decoder) @ p.out
    likelihood = np.sum(x * logits - softplus(logits), axis=1)
    kl = -0.5 * np.sum(1 + log_var - mu**2 - np.exp(log_var), axis=1)
    return np.mean(likelihood - kl)


def example():
    rng = np.random.default_rng(36)
    p = Parameters(*(0.5 * rng.normal(size=s) for s in [(6, 5), (5, 2), (5, 2), (2, 5), (5, 6)]))
    return elbo, (p, (rng.random((7, 6)) > 0.5).astype(float), rng.normal(size=(7, 2))), 0
