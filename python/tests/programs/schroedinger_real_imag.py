"""A wave packet through a barrier: the wave function as real and imaginary parts, staggered in time."""

import numpy as np


def laplacian(f, dx):
    out = np.zeros_like(f)
    out[1:-1] = (f[2:] - 2 * f[1:-1] + f[:-2]) / dx**2
    return out


def transmitted(height, width, k0, nx=80, nt=120):
    x = np.linspace(-10, 10, nx)
    dx = x[1] - x[0]
    dt = 0.4 * dx**2
    V = height * np.exp(-((x / width) ** 4))
    envelope = np.exp(-((x + 4) ** 2) / 2.0)
    psi_r = envelope * np.cos(k0 * x)
    psi_i = envelope * np.sin(k0 * x)
    norm = np.sqrt(np.sum(psi_r**2 + psi_i**2) * dx)
    psi_r /= norm
    psi_i /= norm
    for _ in range(nt):
        psi_r += dt * (-0.5 * laplacian(psi_i, dx) + V * psi_i)
        psi_i -= dt * (-0.5 * laplacian(psi_r, dx) + V * psi_r)
    rho = psi_r**2 + psi_i**2
    return np.sum(rho[x > 0]) * dx


def example():
    return transmitted, (1.5, 0.8, 2.0), (0, 1, 2)
