"""Latent topics by EM over a small word-count matrix, smoothing as a parameter, perplexity on held-out counts."""

import numpy as np


def normalise(M, axis):
    return M / M.sum(axis=axis, keepdims=True)


def plsa(counts, topics, alpha, n_iter, seed=1):
    docs, words = counts.shape
    rng = np.random.default_rng(seed)
    theta = normalise(rng.random((docs, topics)) + 0.1, 1)
    phi = normalise(rng.random((topics, words)) + 0.1, 1)
    for _ in range(n_iter):
        joint = theta[:, :, None] * phi[None, :, :]
        post = joint / joint.sum(axis=1, keepdims=True)
        weighted = counts[:, None, :] * post
        theta = normalise(weighted.sum(axis=2) + alpha, 1)
        phi = normalise(weighted.sum(axis=0) + alpha, 1)
    return theta, phi


def perplexity(alpha, counts, held_out, topics=2):
    theta, phi = plsa(counts, topics, alpha, n_iter=6)
    p = theta @ phi
    return np.exp(-np.sum(held_out * np.log(p)) / np.sum(held_out))


def example():
    rng = np.random.default_rng(62)
    return perplexity, (0.1, rng.poisson(3.0, size=(4, 6)).astype(float), rng.poisson(2.0, size=(4, 6))), (0, 1)
