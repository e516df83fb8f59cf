"""A second-order filter designed from its cutoff, run forwards and backwards, state kept in an object."""

import numpy as np


class Biquad:
    def __init__(self, b, a):
        self.b = b
        self.a = a
        self.z = np.zeros(2)

    def process(self, x):
        y = self.b[0] * x + self.z[0]
        self.z[0] = self.b[1] * x - self.a[1] * y + self.z[1]
        self.z[1] = self.b[2] * x - self.a[2] * y
        return y

    def __call__(self, signal):
        self.z[:] = 0
        return np.array([self.process(s) for s in signal])


def lowpass(fc, fs, q=1 / np.sqrt(2)):
    w0 = 2 * np.pi * fc / fs
    alpha = np.sin(w0) / (2 * q)
    b = np.array([(1 - np.cos(w0)) / 2, 1 - np.cos(w0), (1 - np.cos(w0)) / 2])
    a = np.array([1 + alpha, -2 * np.cos(w0), 1 - alpha])
    return b / a[0], a / a[0]


def filtfilt_energy(fc, q, x, fs=10.0):
    f = Biquad(*lowpass(fc, fs, q))
    y = f(x)
    y = f(y[::-1])[::-1]
    return np.sum((x - y) ** 2)


def example():
    t = np.arange(30) / 10
    return filtfilt_energy, (1.2, 0.8, np.sin(2 * t) + 0.4 * np.sin(20 * t)), (0, 1, 2)
