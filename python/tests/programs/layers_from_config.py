"""A network built from a configuration: a list of dicts that name layers."""

import numpy as np

CONFIG = [
    {"type": "dense", "units": 6, "activation": "tanh"},
    {"type": "dropout", "rate": 0.0},
    {"type": "dense", "units": 4, "activation": "relu"},
    {"type": "norm"},
    {"type": "dense", "units": 1},
]

ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.where(x > 0, x, 0.01 * x), None: lambda x: x}


def build(config, features, rng):
    params = {}
    for i, layer in enumerate(config):
        if layer["type"] == "dense":
            params[f"W{i}"] = rng.normal(size=(features, layer["units"])) / np.sqrt(features)
            params[f"b{i}"] = np.zeros(layer["units"])
            features = layer["units"]
    return params


def forward(params, x, config=CONFIG):
    for i, layer in enumerate(config):
        kind = layer["type"]
        if kind == "dense":
            x = ACTIVATIONS[layer.get("activation")](x @ params[f"W{i}"] + params[f"b{i}"])
        elif kind == "norm":
            x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-5)
        elif kind == "dropout":
            x = x * (1 - layer["rate"])
        else:
            raise ValueError(f"unknown layer {kind}")
    return x


def loss(params, x, y):
    return np.mean((forward(params, x)[:, 0] - y) ** 2)


def example():
    rng = np.random.default_rng(28)
    return loss, (build(CONFIG, 3, rng), rng.normal(size=(10, 3)), rng.normal(size=10)), 0
