"""A particle filter without resampling, with noise that was drawn before."""

import numpy as np


def step(particles, drift, noise):
    return particles + drift * np.sin(particles) + 0.2 * noise


def marginal(theta, ys, noise):
    particles = noise[0]
    logw = np.zeros(len(particles))
    for t, y in enumerate(ys):
        particles = step(particles, theta[0], noise[t + 1])
        logw = logw - 0.5 * (y - theta[1] * particles) ** 2
    m = logw.max()
    return m + np.log(np.mean(np.exp(logw - m)))


def example():
    rng = np.random.default_rng(3)
    return marginal, (np.array([0.3, 1.1]), rng.normal(size=15), rng.normal(size=(16, 20))), 0
