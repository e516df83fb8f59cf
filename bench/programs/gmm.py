"""The Gaussian mixture model of ADBench: d=10, K=25, n=10,000; log-likelihood with a Wishart prior, gradient by weights, means and inverse factors."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program, hand_written

SIZES = {"d=10, K=25, n=10k": dict(d=10, K=25, n=10_000)}
SMALL = dict(d=3, K=2, n=7)
GAMMA = 1.0  # of the prior; its other parameter is 0


def program(random, d, K, n):
    entries = d * (d - 1) // 2
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - K * wishart_constant(d)
    rows, columns = np.tril_indices(d, -1)
    order = np.lexsort((rows, columns))  # ADBench goes through the factors by columns
    rows, columns = rows[order], columns[order]

    def unpack(factors):
        Q = np.zeros_like(factors, shape=(K, d, d))
        for j in tuple(range(d - 1)):
            first = d + j * d - j * (j + 1) // 2
            Q[:, j + 1 :, j] = factors[:, first : first + d - 1 - j]
        return Q

    def whole(alphas, means, factors, x):
        """All points at once."""
        logs = factors[:, :d]
        centred = x[:, None, :] - means[None, :, :]
        moved = np.exp(logs) * centred + np.sum(unpack(factors) * centred[:, :, None, :], axis=3)
        terms = alphas + np.sum(logs, axis=1) - 0.5 * np.sum(moved * moved, axis=2)
        most = np.max(terms, axis=1)
        points = np.sum(most + np.log(np.sum(np.exp(terms - most[:, None]), axis=1)))
        return points - n * np.log(np.sum(np.exp(alphas))) + prior(logs, factors) + constant

    def by_points(alphas, means, factors, x):
        logs = factors[:, :d]
        diagonal, sums, Q = np.exp(logs), np.sum(logs, axis=1), unpack(factors)
        total = 0.0
        for i in range(n):
            centred = x[i] - means
            moved = diagonal * centred + np.sum(Q * centred[:, None, :], axis=2)
            terms = alphas + sums - 0.5 * np.sum(moved * moved, axis=1)
            most = terms[0]
            for k in range(K):
                most = np.where(terms[k] > most, terms[k], most)
            total = total + most + np.log(np.sum(np.exp(terms - most)))
        return total - n * np.log(np.sum(np.exp(alphas))) + prior(logs, factors) + constant

    def one_product(alphas, means, factors, x):
        """Q x − Q mean: a matrix product over the points, no centred copies."""
        logs = factors[:, :d]
        Q = unpack(factors) + np.exp(logs)[:, :, None] * np.eye(d)
        moved = (x @ Q.reshape(K * d, d).T).reshape(n, K, d) - np.einsum("kij,kj->ki", Q, means)
        terms = alphas + np.sum(logs, axis=1) - 0.5 * np.sum(moved * moved, axis=2)
        most = np.max(terms, axis=1)
        points = np.sum(most + np.log(np.sum(np.exp(terms - most[:, None]), axis=1)))
        return points - n * np.log(np.sum(np.exp(alphas))) + prior(logs, factors) + constant

    def prior(logs, factors):
        diagonal, below = np.exp(logs), factors[:, d:]
        return 0.5 * GAMMA**2 * (np.sum(diagonal * diagonal) + np.sum(below * below))

    def vectorised(alphas, means, factors, x):
        logs, below = factors[:, :d], factors[:, d:]
        Q = jnp.zeros((K, d, d)).at[:, rows, columns].set(below) + jnp.exp(logs)[:, :, None] * jnp.eye(d)
        moved = jnp.einsum("kij,nkj->nki", Q, x[:, None, :] - means[None, :, :])
        return jax_end(alphas, logs, below, moved)

    def by_mixtures(alphas, means, factors, x):
        """Q x − Q mean: a matrix product over the points, no centred copies."""
        logs, below = factors[:, :d], factors[:, d:]
        Q = jnp.zeros((K, d, d)).at[:, rows, columns].set(below) + jnp.exp(logs)[:, :, None] * jnp.eye(d)
        moved = (x @ Q.reshape(K * d, d).T).reshape(n, K, d) - jnp.einsum("kij,kj->ki", Q, means)
        return jax_end(alphas, logs, below, moved)

    def jax_end(alphas, logs, below, moved):
        terms = alphas + jnp.sum(logs, axis=1) - 0.5 * jnp.sum(moved**2, axis=2)
        points = jnp.sum(jax.scipy.special.logsumexp(terms, axis=1))
        prior = 0.5 * GAMMA**2 * (jnp.sum(jnp.exp(logs) ** 2) + jnp.sum(below**2))
        return points - n * jax.scipy.special.logsumexp(alphas) + prior + constant

    jax_losses = {"vectorised": vectorised, "one matrix product": by_mixtures}
    shapes = [(K,), (K, d), (K, d + entries)]
    return Program(
        args=(*(0.5 * random.standard_normal(shape) for shape in shapes), random.standard_normal((n, d))),
        forms={"": whole, "loop over points": by_points, "one matrix product": one_product},
        argnums=(0, 1, 2),
        budgets=("keep_all", "auto"),  # auto runs it in tiles of points
        c=lambda args: hand_written(__file__, (d, K, n, GAMMA, constant), args, [], shapes),
        jax_values=jax_losses,
        jax_losses=jax_losses,
    )


def wishart_constant(d):
    """The normalisation of ADBench's prior for one mixture: n' = d + 1 degrees of freedom."""
    freedom = d + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * freedom - 0.5 * j) for j in range(d))
    return freedom * d * (math.log(GAMMA) - 0.5 * math.log(2.0)) - log_gamma
