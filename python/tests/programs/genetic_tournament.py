"""A population under tournaments: the fitter of two given individuals is copied, then mutated in place by given steps."""

import numpy as np


def fitness(v, target):
    return -np.sum((v - target) ** 2)


def evolve(population, target, pairs, steps):
    for generation in range(len(steps)):
        children = np.empty_like(population)
        for k, (i, j) in enumerate(pairs):
            winner = population[i] if fitness(population[i], target) > fitness(population[j], target) else population[j]
            child = winner.copy()
            child += 0.1 * steps[generation, k]
            children[k] = child
        population = children
    return max(fitness(v, target) for v in population) + 0.01 * np.sum(population)


def example():
    rng = np.random.default_rng(33)
    pairs = [(0, 1), (2, 3), (1, 2), (3, 0)]
    return evolve, (rng.normal(size=(4, 3)), np.array([0.5, -0.3, 0.9]), pairs, rng.normal(size=(4, 4, 3))), (0, 1, 3)
