"""Choices among options of which some are not there, by masks and -inf, with a panel of people in groups."""

import numpy as np


def log_softmax(u, axis=-1):
    top = np.max(u, axis=axis, keepdims=True)
    return u - top - np.log(np.sum(np.exp(u - top), axis=axis, keepdims=True))


def log_likelihood(beta, prices, quality, available, chosen, group):
    utility = beta[0] * prices + beta[1] * quality
    utility = utility + beta[2 + group][:, None] * quality
    utility = np.where(available, utility, -np.inf)
    logp = log_softmax(utility)
    picked = logp[np.arange(len(chosen)), chosen]
    by_group = np.zeros(2)
    np.add.at(by_group, group, picked)
    return by_group @ np.array([1.0, 0.7]) - 0.1 * beta @ beta


def example():
    rng = np.random.default_rng(29)
    available = np.ones((6, 3), dtype=bool)
    available[[1, 4], [0, 2]] = False
    return log_likelihood, (np.array([-0.8, 0.5, 0.2, -0.3]), rng.uniform(1, 2, (6, 3)), rng.normal(size=(6, 3)), available, np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 1, 1, 0, 1])), (0, 1, 2)
