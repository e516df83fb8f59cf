"""A ladder of first-order filters as functions of functions: compose, map and starmap over a table of sections."""

from functools import partial, reduce
from itertools import chain, starmap

import numpy as np


def one_pole(a, b, signal):
    out, state = [], 0.0
    for s in signal:
        state = a * state + b * s
        out.append(state)
    return np.array(out)


def compose(*functions):
    return reduce(lambda f, g: lambda x: g(f(x)), functions)


def sections(cutoffs, rate=10.0):
    def make(fc, gain=1.0):
        a = np.exp(-2 * np.pi * fc / rate)
        return partial(one_pole, a, gain * (1 - a))

    return list(starmap(make, zip(cutoffs, [1.0, 1.2, 0.9])))


def loss(cutoffs, signal, target, tail=(0.0, 0.0)):
    ladder = compose(*sections(cutoffs), np.tanh)
    filtered = ladder(np.fromiter(chain(signal, tail), dtype=float) if False else np.concatenate([signal, tail]))
    return float(np.mean((filtered - target) ** 2)) if False else np.mean((filtered - target) ** 2)


def example():
    t = np.arange(18)
    return loss, (np.array([0.5, 1.0, 2.0]), np.sign(np.sin(0.5 * t)) + 0.1, np.concatenate([np.sin(0.5 * t - 0.5), [0, 0]])), (0, 1)
