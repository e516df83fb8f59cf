"""A perceptron whose parameters are a dict of arrays, trained by hand-written gradients with momentum and decay held in dicts."""

import numpy as np


def forward(params, x):
    hidden = np.tanh(x @ params["W1"] + params["b1"])
    return hidden, hidden @ params["W2"] + params["b2"]


def backward(params, x, hidden, error):
    grads = {"W2": hidden.T @ error, "b2": error.sum(axis=0)}
    inner = (error @ params["W2"].T) * (1 - hidden**2)
    grads["W1"], grads["b1"] = x.T @ inner, inner.sum(axis=0)
    return grads


def train(W1, W2, rate, decay, x, y):
    params = {"W1": W1.copy(), "b1": np.zeros(W1.shape[1]), "W2": W2.copy(), "b2": np.zeros(W2.shape[1])}
    speed = {name: np.zeros_like(value) for name, value in params.items()}
    for epoch in range(10):
        hidden, out = forward(params, x)
        grads = backward(params, x, hidden, (out - y) / len(x))
        for name in params:
            speed[name] *= 0.8
            speed[name] -= rate * (grads[name] + decay * params[name])
            params[name] += speed[name]
    return np.mean((forward(params, x)[1] - y) ** 2)


def example():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(8, 3))
    return train, (rng.normal(size=(3, 4)) * 0.5, rng.normal(size=(4, 2)) * 0.5, 0.2, 0.01, x, np.sin(x[:, :2])), (0, 1, 2, 3)
