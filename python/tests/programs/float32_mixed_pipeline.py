"""A pipeline in single precision for data and double for accumulators, with casts between."""

import numpy as np


def normalise(block):
    mean = block.mean(axis=0, dtype=np.float64)
    spread = np.sqrt(((block - mean) ** 2).mean(axis=0) + 1e-3)
    return ((block - mean) / spread).astype(np.float64)


def pipeline(weights, data):
    total = np.zeros(weights.shape[1], dtype=np.float64)
    scale = np.float32(0.5)
    for block in np.split(data, 3):
        z = normalise(block) @ weights
        total += np.tanh(z).sum(axis=0) * float(scale)
        scale = np.float32(scale * np.float32(0.75))
    return np.log(np.sum(np.exp(total)))


def example():
    rng = np.random.default_rng(1)
    return pipeline, (rng.normal(size=(3, 2)), rng.normal(size=(12, 3))), (0, 1)
