"""Heat through layers that are a list of arrays of different lengths; interfaces exchange by harmonic means."""

import numpy as np


def step(layers, conductivity, dt):
    new = []
    for k, layer in enumerate(layers):
        left = layers[k - 1][-1] if k > 0 else 1.0
        right = layers[k + 1][0] if k + 1 < len(layers) else 0.0
        padded = np.concatenate([[left], layer, [right]])
        change = conductivity[k] * (padded[2:] - 2 * padded[1:-1] + padded[:-2])
        if k > 0:
            mean = 2 * conductivity[k] * conductivity[k - 1] / (conductivity[k] + conductivity[k - 1])
            change[0] += (mean - conductivity[k]) * (left - layer[0])
        new.append(layer + dt * change)
    return new


def flux(conductivity, start):
    layers = [start[:3], start[3:7], start[7:]]
    history = []
    for _ in range(15):
        layers = step(layers, conductivity, 0.2)
        history.append(conductivity[-1] * layers[-1][-1])
    return np.mean(history) + sum(float(len(layer)) * layer.mean() for layer in layers)


def example():
    return flux, (np.array([0.9, 0.4, 1.3]), np.linspace(0.8, 0.1, 9)), (0, 1)
