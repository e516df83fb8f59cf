"""The energy of a discrete elastic rod with loads, relaxed by gradient steps written out by hand; stiffness is the design."""

import numpy as np


def forces(nodes, stiffness, rest, load):
    f = np.zeros_like(nodes)
    for i in range(len(nodes) - 1):
        d = nodes[i + 1] - nodes[i]
        length = np.sqrt(d @ d)
        pull = stiffness[i] * (length - rest) * d / length
        f[i] += pull
        f[i + 1] -= pull
    for i in range(1, len(nodes) - 1):
        bend = nodes[i - 1] - 2 * nodes[i] + nodes[i + 1]
        f[i] += 0.5 * bend
    f[:, 1] -= load
    f[0] = f[-1] = 0.0
    return f


def relax(stiffness, load, n=6, steps=40, h=0.05):
    nodes = np.column_stack([np.linspace(0, 1, n), np.zeros(n)])
    velocity = np.zeros_like(nodes)
    for _ in range(steps):
        velocity *= 0.9
        velocity += h * forces(nodes, stiffness, 0.18, load)
        nodes += h * velocity
    return nodes


def sag(stiffness, load):
    nodes = relax(stiffness, load)
    return -nodes[:, 1].min() + 0.01 * np.sum(stiffness)


def example():
    return sag, (np.linspace(3.0, 6.0, 5), 0.4), (0, 1)
