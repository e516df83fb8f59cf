"""An LSTM over a sequence, with parameters in a dict."""

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def cell(params, x, h, c):
    z = x @ params["Wx"] + h @ params["Wh"] + params["b"]
    i, f, g, o = np.split(z, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return h, c


def loss(params, xs, target):
    n = params["Wh"].shape[0]
    h, c = np.zeros(n), np.zeros(n)
    outputs = []
    for x in xs:
        h, c = cell(params, x, h, c)
        outputs.append(h @ params["out"])
    predictions = np.stack(outputs)
    return np.mean((predictions - target) ** 2)


def example():
    rng = np.random.default_rng(13)
    d, n = 3, 5
    params = {"Wx": rng.normal(size=(d, 4 * n)), "Wh": rng.normal(size=(n, 4 * n)), "b": rng.normal(size=4 * n), "out": rng.normal(size=(n, 2))}
    return loss, (params, rng.normal(size=(12, d)), rng.normal(size=(12, 2))), 0
