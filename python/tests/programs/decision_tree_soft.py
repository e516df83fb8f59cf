"""A soft decision tree walked by recursion over a nested dict, with a forest's mean and a log loss."""

import numpy as np


def sigmoid(z):
    if np.ndim(z) == 0:
        return 1 / (1 + np.exp(-z)) if z >= 0 else np.exp(z) / (1 + np.exp(z))
    return 1 / (1 + np.exp(-z))


def predict(node, x):
    if "leaf" in node:
        return node["leaf"]
    gate = sigmoid(node["sharpness"] * (x @ node["w"] - node["threshold"]))
    return gate * predict(node["right"], x) + (1 - gate) * predict(node["left"], x)


def log_loss(forest, X, y, clip=1e-9):
    total = 0.0
    for x, label in zip(X, y):
        votes = [predict(tree, x) for tree in forest]
        p = sigmoid(sum(votes) / len(votes))
        p = min(max(p, clip), 1 - clip)
        total -= np.log(p) if label == 1 else np.log(1 - p)
    return total / len(X)


def example():
    rng = np.random.default_rng(61)

    def grow(depth):
        if depth == 0:
            return {"leaf": float(rng.normal())}
        return {"w": rng.normal(size=3), "threshold": float(0.2 * rng.normal()), "sharpness": 2.0, "left": grow(depth - 1), "right": grow(depth - 1)}

    X = rng.normal(size=(5, 3))
    return log_loss, ([grow(2), grow(1)], X, [1, 0, 1, 1, 0]), (0, 1)
