"""A convolution by four loops, average pooling by strides and a dense layer, all as classes in a list."""

import numpy as np


class Conv:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def forward(self, x):
        n_f, k, _ = self.w.shape
        h, w = x.shape
        out = np.zeros((n_f, h - k + 1, w - k + 1))
        for f in range(n_f):
            for i in range(h - k + 1):
                for j in range(w - k + 1):
                    out[f, i, j] = np.sum(x[i : i + k, j : j + k] * self.w[f]) + self.b[f]
        return out


class ReLU:
    def forward(self, x):
        return x * (x > 0)


class AvgPool:
    def forward(self, x):
        return 0.25 * (x[:, 0::2, 0::2] + x[:, 1::2, 0::2] + x[:, 0::2, 1::2] + x[:, 1::2, 1::2])


class Dense:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return self.w @ x.flatten()


class Sequential:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


def loss(w, b, dense, images, labels):
    net = Sequential(Conv(w, b), ReLU(), AvgPool(), Dense(dense))
    nll = 0.0
    for img, lab in zip(images, labels):
        z = net(img)
        z = z - z.max()
        nll += np.log(np.exp(z).sum()) - z[lab]
    return nll / len(images)


def example():
    rng = np.random.default_rng(31)
    return loss, (rng.normal(size=(2, 3, 3)), 0.1 * rng.normal(size=2), rng.normal(size=(3, 8)), rng.normal(size=(2, 6, 6)), [2, 0]), (0, 1, 2)
