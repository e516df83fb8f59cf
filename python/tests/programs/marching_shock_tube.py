"""A shock tube by Lax-Friedrichs with a time step from the fastest wave, until the end of time is reached exactly."""

import numpy as np


def flux(U, gamma=1.4):
    rho, mom, E = U
    v = mom / rho
    p = (gamma - 1) * (E - 0.5 * rho * v**2)
    return np.array([mom, mom * v + p, (E + p) * v]), np.abs(v) + np.sqrt(gamma * p / rho)


def advance(U, dx, t_end, cfl=0.8):
    t = 0.0
    while t < t_end:
        F, speed = flux(U)
        dt = cfl * dx / speed.max()
        if t + dt > t_end:
            dt = t_end - t
        inner = 0.5 * (U[:, :-2] + U[:, 2:]) - 0.5 * dt / dx * (F[:, 2:] - F[:, :-2])
        U = np.concatenate([U[:, :1], inner, U[:, -1:]], axis=1)
        t += dt
    return U


def pressure_jump(left_pressure, left_density, n=24):
    x = (np.arange(n) + 0.5) / n
    rho = np.where(x < 0.5, left_density, 0.125)
    p = np.where(x < 0.5, left_pressure, 0.1)
    U = np.stack([rho, np.zeros(n), p / 0.4])
    U = advance(U, 1 / n, 0.1)
    return U[2, -6:].sum() + np.sum(U[1] ** 2)


def example():
    return pressure_jump, (1.0, 1.1), (0, 1)
