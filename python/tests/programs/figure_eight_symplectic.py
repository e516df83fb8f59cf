"""Three bodies on a figure of eight by the leapfrog with accelerations from a triangular loop; energy error."""

import numpy as np


def accelerations(pos, masses, soft=0.01):
    n = pos.shape[0]
    acc = np.zeros_like(pos)
    for i in range(n):
        for j in range(i):
            r = pos[j] - pos[i]
            d3 = (r @ r + soft**2) ** 1.5
            acc[i] += masses[j] * r / d3
            acc[j] -= masses[i] * r / d3
    return acc


def energy(pos, vel, masses, soft=0.01):
    kin = 0.5 * np.sum(masses[:, None] * vel**2)
    pot = 0.0
    for i in range(len(masses)):
        for j in range(i + 1, len(masses)):
            pot -= masses[i] * masses[j] / np.sqrt(np.sum((pos[i] - pos[j]) ** 2) + soft**2)
    return kin + pot


def final_separation(pos, vel, masses, dt=0.01, nsteps=40):
    pos = pos.copy()
    vel = vel.copy()
    e0 = energy(pos, vel, masses)
    acc = accelerations(pos, masses)
    for _ in range(nsteps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = accelerations(pos, masses)
        vel += 0.5 * dt * acc
    return np.linalg.norm(pos[0] - pos[2]) + 10 * (energy(pos, vel, masses) - e0)


def example():
    p1 = np.array([0.97000436, -0.24308753])
    v3 = np.array([-0.93240737, -0.86473146])
    pos = np.array([p1, -p1, [0.0, 0.0]])
    vel = np.array([-v3 / 2, -v3 / 2, v3])
    return final_separation, (pos, vel, np.array([1.0, 1.1, 0.9])), (0, 1, 2)
