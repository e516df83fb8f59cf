"""The log likelihood of words under a Markov chain of letters with counts smoothed by a parameter, by dicts of dicts."""

import collections

import numpy as np


def transitions(words, weights):
    counts = collections.defaultdict(lambda: collections.defaultdict(float))
    for word, weight in zip(words, weights):
        for a, b in zip("^" + word, word + "$"):
            counts[a][b] += weight
    return counts


def log_likelihood(weights, smoothing):
    words = ["abba", "cab", "baa", "acc"]
    counts = transitions(words, weights)
    letters = sorted({letter for word in words for letter in word} | {"$"})
    total = 0.0
    for word in words[:2]:
        for a, b in zip("^" + word, word + "$"):
            row = counts[a]
            total += np.log((row.get(b, 0.0) + smoothing) / (sum(row.values()) + smoothing * len(letters)))
    return total


def example():
    return log_likelihood, (np.array([1.0, 0.6, 1.7, 0.4]), 0.3), (0, 1)
