"""A small transformer: layers in a list, attention heads by reshape and transpose, a causal mask."""

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x, gain, bias, eps=1e-5):
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + bias


def attention(p, x, heads):
    t, d = x.shape
    q, k, v = [(x @ p[name]).reshape(t, heads, d // heads).transpose(1, 0, 2) for name in ("q", "k", "v")]
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(d // heads)
    mask = np.tril(np.ones((t, t), dtype=bool))
    weights = softmax(np.where(mask, scores, -1e9))
    return (weights @ v).transpose(1, 0, 2).reshape(t, d) @ p["o"]


def block(p, x, heads):
    x = x + attention(p, layer_norm(x, p["g1"], p["b1"]), heads)
    h = layer_norm(x, p["g2"], p["b2"]) @ p["up"]
    return x + (0.5 * h * (1 + np.tanh(0.8 * (h + 0.045 * h**3)))) @ p["down"]


def loss(params, tokens, heads=2):
    x = params["embedding"][tokens[:-1]] + params["position"][: len(tokens) - 1]
    for p in params["layers"]:
        x = block(p, x, heads)
    logits = x @ params["embedding"].T
    logp = logits - np.log(np.sum(np.exp(logits), axis=-1, keepdims=True))
    return -np.mean(logp[np.arange(len(tokens) - 1), tokens[1:]])


def example():
    rng = np.random.default_rng(14)
    d, vocabulary = 4, 7
    def layer():
        p = {name: 0.3 * rng.normal(size=(d, d)) for name in "qkvo"}
        return {**p, "g1": np.ones(d), "b1": np.zeros(d), "g2": np.ones(d), "b2": np.zeros(d),
                "up": 0.3 * rng.normal(size=(d, 8)), "down": 0.3 * rng.normal(size=(8, d))}
    params = {"embedding": rng.normal(size=(vocabulary, d)), "position": rng.normal(size=(6, d)), "layers": [layer(), layer()]}
    return loss, (params, rng.integers(0, vocabulary, size=6)), 0
