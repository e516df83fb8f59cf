"""A continuous cellular automaton (Lenia): a ring kernel by wrapped neighbours, a growth function, mass measured at the end."""

import itertools

import numpy as np


def ring(radius, mu=0.5, sigma=0.15):
    kernel = {}
    for dy, dx in itertools.product(range(-radius, radius + 1), repeat=2):
        r = np.hypot(dy, dx) / radius
        if 0 < r <= 1:
            kernel[dy, dx] = np.exp(-0.5 * ((r - mu) / sigma) ** 2)
    total = sum(kernel.values())
    return {offset: weight / total for offset, weight in kernel.items()}


def growth(u, mu, sigma):
    return 2 * np.exp(-0.5 * ((u - mu) / sigma) ** 2) - 1


def evolve(world, mu, sigma, steps=6, dt=0.2):
    kernel = ring(2)
    for _ in range(steps):
        u = sum(w * np.roll(world, shift, axis=(0, 1)) for shift, w in kernel.items())
        world = np.clip(world + dt * growth(u, mu, sigma), 0, 1)
    return world


def centre_of_mass(world, mu, sigma):
    final = evolve(world, mu, sigma)
    y, x = np.indices(final.shape)
    mass = final.sum() + 1e-9
    return (final * y).sum() / mass + (final * x).sum() / mass + 0.1 * mass


def example():
    rng = np.random.default_rng(2)
    return centre_of_mass, (0.2 + 0.6 * rng.random((8, 8)), 0.35, 0.12), (0, 1, 2)
