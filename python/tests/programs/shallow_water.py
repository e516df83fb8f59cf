"""Shallow water on a line by Lax-Friedrichs, with walls."""

import numpy as np

g = 9.81


def flux(h, hu):
    u = hu / h
    return hu, hu * u + 0.5 * g * h**2


def step(h, hu, dx, dt):
    fh, fhu = flux(h, hu)
    speed = np.max(np.abs(hu / h) + np.sqrt(g * h))
    F = 0.5 * (fh[1:] + fh[:-1]) - 0.5 * speed * (h[1:] - h[:-1])
    G = 0.5 * (fhu[1:] + fhu[:-1]) - 0.5 * speed * (hu[1:] - hu[:-1])
    h[1:-1] -= dt / dx * (F[1:] - F[:-1])
    hu[1:-1] -= dt / dx * (G[1:] - G[:-1])
    h[0], h[-1] = h[1], h[-2]
    hu[0], hu[-1] = -hu[1], -hu[-2]


def run_up(h0, steps=20):
    h, hu = h0.copy(), np.zeros_like(h0)
    highest = h[-1]
    for n in range(steps):
        step(h, hu, dx=0.1, dt=0.005)
        highest = np.maximum(highest, h[-1])
    return highest + 0.01 * np.sum(hu**2)


def example():
    x = np.linspace(0, 1, 20)
    return run_up, (1.0 + 0.3 * np.exp(-50 * (x - 0.7) ** 2),), 0
