"""A recurrent network of characters with cross-entropy, its parameters in a dict, its text as a string."""

import numpy as np


def init(vocab, hidden, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "Wxh": 0.3 * rng.standard_normal((hidden, vocab)),
        "Whh": 0.3 * rng.standard_normal((hidden, hidden)),
        "Why": 0.3 * rng.standard_normal((vocab, hidden)),
        "bh": np.zeros((hidden, 1)),
        "by": np.zeros((vocab, 1)),
    }


def loss(params, inputs, targets, hprev):
    xs, hs, ps = {}, {}, {}
    hs[-1] = np.copy(hprev)
    total = 0
    for t in range(len(inputs)):
        xs[t] = np.zeros((params["Wxh"].shape[1], 1))
        xs[t][inputs[t]] = 1
        hs[t] = np.tanh(params["Wxh"] @ xs[t] + params["Whh"] @ hs[t - 1] + params["bh"])
        y = params["Why"] @ hs[t] + params["by"]
        ps[t] = np.exp(y) / np.sum(np.exp(y))
        total += -np.log(ps[t][targets[t], 0])
    return total


def example():
    text = "hello world"
    chars = sorted(set(text))
    index = {c: i for i, c in enumerate(chars)}
    codes = [index[c] for c in text]
    return loss, (init(len(chars), 5), codes[:-1], codes[1:], np.zeros((5, 1))), (0, 3)
