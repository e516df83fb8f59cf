"""Selection from allele counts: a Wright-Fisher chain with binomial probabilities by scipy's gammaln."""

import numpy as np
from scipy.special import gammaln


def log_binom(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def binom_pmf(k, n, p):
    return np.exp(log_binom(n, k) + k * np.log(p) + (n - k) * np.log1p(-p))


def transition(N, s, mu):
    i = np.arange(N + 1)
    p = i / N
    p = p * (1 + s) / (1 + s * p)
    p = (1 - mu) * p + mu * (1 - p)
    k = np.arange(N + 1)
    return binom_pmf(k[None, :], N, p[:, None])


def loglik(s, mu, counts, n_sample, N=8):
    P = transition(N, s, mu)
    freqs = np.clip(np.arange(N + 1) / N, 1e-3, 1 - 1e-3)
    state = np.full(N + 1, 1 / (N + 1))
    ll = 0.0
    for generation, c in enumerate(counts):
        if generation > 0:
            state = state @ P
        state = state * binom_pmf(c, n_sample, freqs)
        norm = state.sum()
        ll += np.log(norm)
        state /= norm
    return ll


def example():
    return loglik, (0.05, 0.01, [2, 3, 5, 4, 6], 10), (0, 1)
