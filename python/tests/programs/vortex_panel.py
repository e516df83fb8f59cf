"""Point vortices advected by each other with a generator of time steps, and their impulse."""

import numpy as np


def velocity(x, y, gamma, delta=0.1):
    dx = x[:, np.newaxis] - x[np.newaxis, :]
    dy = y[:, np.newaxis] - y[np.newaxis, :]
    r2 = dx**2 + dy**2 + delta**2
    u = -(gamma * dy / r2).sum(axis=1) / (2 * np.pi)
    v = (gamma * dx / r2).sum(axis=1) / (2 * np.pi)
    return u, v


def steps(x, y, gamma, dt):
    while True:
        u, v = velocity(x, y, gamma)
        xm, ym = x + 0.5 * dt * u, y + 0.5 * dt * v
        u, v = velocity(xm, ym, gamma)
        x, y = x + dt * u, y + dt * v
        yield x, y


def spread(gamma, x0, y0, dt=0.05, nsteps=15):
    for k, (x, y) in enumerate(steps(x0, y0, gamma, dt)):
        if k == nsteps:
            break
    return np.sum(gamma * (x**2 + y**2)) + x.max()


def example():
    return spread, (np.array([1.0, -0.7, 0.5]), np.array([0.0, 0.5, -0.3]), np.array([0.1, -0.2, 0.4])), (0, 1, 2)
