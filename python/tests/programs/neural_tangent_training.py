"""A network trained inside: gradients written by hand, five epochs with mini-batches; the final loss by its learning rate."""

import numpy as np


class MLP:
    def __init__(self, sizes, scale, rng):
        self.W = [scale * rng.normal(size=(a, b)) / np.sqrt(a) for a, b in zip(sizes[:-1], sizes[1:])]
        self.b = [np.zeros(b) for b in sizes[1:]]

    def forward(self, X):
        self.a = [X]
        for W, b in zip(self.W[:-1], self.b[:-1]):
            self.a.append(np.tanh(self.a[-1] @ W + b))
        return self.a[-1] @ self.W[-1] + self.b[-1]

    def backward(self, delta):
        grads = []
        for l in range(len(self.W) - 1, -1, -1):
            grads.append((self.a[l].T @ delta, delta.sum(axis=0)))
            if l > 0:
                delta = (delta @ self.W[l].T) * (1 - self.a[l] ** 2)
        return grads[::-1]

    def step(self, grads, lr):
        for l, (gW, gb) in enumerate(grads):
            self.W[l] = self.W[l] - lr * gW
            self.b[l] = self.b[l] - lr * gb


def final_loss(lr, scale, X, y, epochs=3, batch=4):
    net = MLP([X.shape[1], 5, 1], scale, np.random.default_rng(0))
    for epoch in range(epochs):
        for start in range(0, len(X), batch):
            xb, yb = X[start : start + batch], y[start : start + batch]
            out = net.forward(xb)
            net.step(net.backward(2 * (out - yb) / len(xb)), lr)
    return np.mean((net.forward(X) - y) ** 2)


def example():
    rng = np.random.default_rng(46)
    X = rng.normal(size=(8, 2))
    return final_loss, (0.1, 1.0, X, np.sin(X[:, :1]) + X[:, 1:]), (0, 1, 3)
