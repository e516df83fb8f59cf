"""Adaptive filters (LMS, NLMS, RLS) by a class for each, chosen from a dict by name."""

import numpy as np


class LMS:
    def __init__(self, n, mu=0.05, **kwargs):
        self.w = np.zeros(n)
        self.mu = mu

    def update(self, x, d):
        e = d - self.w @ x
        self.w = self.w + self.mu * e * x
        return e


class NLMS(LMS):
    def update(self, x, d):
        e = d - self.w @ x
        self.w += self.mu * e * x / (1e-6 + x @ x)
        return e


class RLS(LMS):
    def __init__(self, n, mu=0.98, delta=1.0, **kwargs):
        super().__init__(n, mu)
        self.P = np.eye(n) / delta

    def update(self, x, d):
        Px = self.P @ x
        k = Px / (self.mu + x @ Px)
        e = d - self.w @ x
        self.w = self.w + k * e
        self.P = (self.P - np.outer(k, Px)) / self.mu
        return e


FILTERS = {"lms": LMS, "nlms": NLMS, "rls": RLS}


def residual_power(mu, signal, desired, order, kind):
    f = FILTERS[kind](order, mu=mu)
    errors = []
    for k in range(order, len(signal)):
        window = signal[k - order : k][::-1]
        errors.append(f.update(window, desired[k]))
    errors = np.array(errors)
    return np.mean(errors[len(errors) // 2 :] ** 2)


def total(mu, signal, desired, order=3):
    return sum(residual_power(m, signal, desired, order, kind) for m, kind in zip(mu, ("lms", "nlms", "rls")))


def example():
    rng = np.random.default_rng(16)
    s = rng.normal(size=24)
    d = np.convolve(s, [0.0, 0.5, -0.3, 0.2])[:24] + 0.01 * rng.normal(size=24)
    return total, (np.array([0.05, 0.4, 0.97]), s, d), (0, 1, 2)
