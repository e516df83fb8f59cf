"""A sensor pipeline of generators: windows slide, outliers are damped, features are yielded and summed up by a reducer."""

from functools import reduce

import numpy as np


def windows(signal, width, step):
    for start in range(0, len(signal) - width + 1, step):
        yield start, signal[start : start + width]


def robust(chunks, scale):
    for start, chunk in chunks:
        centre = np.median(chunk)
        z = (chunk - centre) / scale
        yield start, centre + scale * np.tanh(z)


def features(chunks):
    for start, chunk in chunks:
        slope = np.polyfit(np.arange(len(chunk)), chunk, 1)[0]
        yield {"at": start, "energy": np.mean(chunk**2), "slope": slope}


def score(signal, scale, weights):
    stream = features(robust(windows(signal, 8, 4), scale))
    combine = lambda total, item: total + weights[0] * item["energy"] + weights[1] * item["slope"] ** 2 * (1 + item["at"] * 0.01)
    return reduce(combine, stream, 0.0)


def example():
    rng = np.random.default_rng(6)
    return score, (np.sin(np.arange(28) * 0.4) + 0.1 * rng.normal(size=28), 0.7, np.array([1.0, 3.0])), (0, 1, 2)
