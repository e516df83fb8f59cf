"""Losses of a loan portfolio in the one-factor model, integrated by Gauss and Hermite's nodes, conditional convolution."""

import numpy as np
from scipy.special import erf, erfinv


def Phi(x):
    return 0.5 * (1 + erf(x / np.sqrt(2)))


def Phi_inv(p):
    return np.sqrt(2) * erfinv(2 * p - 1)


def loss_distribution(p_cond):
    dist = np.array([1.0])
    for p in p_cond:
        longer = np.zeros(len(dist) + 1)
        longer[:-1] += dist * (1 - p)
        longer[1:] += dist * p
        dist = longer
    return dist


def expected_tranche(rho, pd, attach=1, detach=3, nodes=7):
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    threshold = Phi_inv(pd)
    total = 0.0
    for xi, wi in zip(x, w):
        cond = Phi((threshold - np.sqrt(rho) * xi) / np.sqrt(1 - rho))
        dist = loss_distribution(cond)
        losses = np.arange(len(dist))
        total += wi * dist @ np.clip(losses - attach, 0, detach - attach)
    return total / (detach - attach)


def example():
    return expected_tranche, (0.25, np.array([0.02, 0.05, 0.1, 0.03, 0.08])), (0, 1)
