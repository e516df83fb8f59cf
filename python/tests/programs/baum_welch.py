"""One round of Baum-Welch for a discrete hidden Markov model with scaling, by dictionaries of matrices."""

import numpy as np


def forward(obs, A, B, pi):
    T, N = len(obs), len(pi)
    alpha = np.zeros((T, N))
    c = np.zeros(T)
    alpha[0] = pi * B[:, obs[0]]
    c[0] = 1 / alpha[0].sum()
    alpha[0] *= c[0]
    for t in range(1, T):
        alpha[t] = (alpha[t - 1] @ A) * B[:, obs[t]]
        c[t] = 1 / np.sum(alpha[t])
        alpha[t] *= c[t]
    return alpha, c


def backward(obs, A, B, c):
    T = len(obs)
    beta = np.zeros((T, A.shape[0]))
    beta[-1] = c[-1]
    for t in reversed(range(T - 1)):
        beta[t] = A @ (B[:, obs[t + 1]] * beta[t + 1]) * c[t]
    return beta


def reestimate(model, obs):
    A, B, pi = model["A"], model["B"], model["pi"]
    alpha, c = forward(obs, A, B, pi)
    beta = backward(obs, A, B, c)
    gamma = alpha * beta / c[:, None]
    xi = np.zeros_like(A)
    for t in range(len(obs) - 1):
        xi += alpha[t][:, None] * A * B[:, obs[t + 1]][None, :] * beta[t + 1][None, :]
    newA = xi / gamma[:-1].sum(axis=0)[:, None]
    newB = np.zeros_like(B)
    for k in range(B.shape[1]):
        newB[:, k] = gamma[obs == k].sum(axis=0)
    newB /= gamma.sum(axis=0)[:, None]
    return {"A": newA, "B": newB, "pi": gamma[0]}


def score(model, obs):
    new = reestimate(model, obs)
    _, c = forward(obs, **new)
    return -np.sum(np.log(c))


def example():
    model = {
        "A": np.array([[0.7, 0.3], [0.2, 0.8]]),
        "B": np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]),
        "pi": np.array([0.6, 0.4]),
    }
    return score, (model, np.array([0, 1, 2, 2, 1, 0, 2, 2])), 0
