"""Mean-field inference of a stochastic block model until it stands still, with edges in an adjacency matrix."""

import numpy as np


def log_prob(adj, tau, B, pi):
    eps = 1e-10
    quad = np.einsum("ik,kl,jl,ij->", tau, np.log(B + eps), tau, adj, optimize=True)
    non = np.einsum("ik,kl,jl,ij->", tau, np.log(1 - B + eps), tau, 1 - adj - np.eye(len(adj)))
    entropy = -np.sum(tau * np.log(tau + eps))
    return 0.5 * (quad + non) + np.sum(tau @ np.log(pi)) + entropy


def mean_field(adj, B, pi, tau, sweeps=10):
    n = adj.shape[0]
    lb, lnb = np.log(B), np.log1p(-B)
    for sweep in range(sweeps):
        for i in range(n):
            others = np.arange(n) != i
            field = np.log(pi)
            field = field + adj[i, others] @ tau[others] @ lb.T
            field = field + (1 - adj[i, others]) @ tau[others] @ lnb.T
            field = np.exp(field - field.max())
            tau[i] = field / field.sum()
    return tau


def elbo(B, pi, adj, tau0):
    tau = mean_field(adj, B, pi, tau0.copy(), sweeps=3)
    return log_prob(adj, tau, B, pi)


def example():
    rng = np.random.default_rng(75)
    adj = (rng.random((6, 6)) < 0.4).astype(float)
    adj = np.triu(adj, 1)
    adj = adj + adj.T
    tau = rng.dirichlet([2.0, 2.0], size=6)
    return elbo, (np.array([[0.6, 0.2], [0.2, 0.5]]), np.array([0.55, 0.45]), adj, tau), (0, 1, 3)
