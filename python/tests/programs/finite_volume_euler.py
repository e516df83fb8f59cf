"""A shock tube by finite volumes: conserved variables, Rusanov's flux, a step that follows the fastest wave."""

import numpy as np

GAMMA = 1.4


def primitive(U):
    rho, mom, ener = U
    u = mom / rho
    p = (GAMMA - 1) * (ener - 0.5 * rho * u**2)
    return rho, u, p


def flux(U):
    rho, u, p = primitive(U)
    return np.vstack([rho * u, rho * u**2 + p, (U[2] + p) * u])


def rusanov(UL, UR):
    def speed(U):
        rho, u, p = primitive(U)
        return np.abs(u) + np.sqrt(GAMMA * p / rho)

    smax = np.maximum(speed(UL), speed(UR))
    return 0.5 * (flux(UL) + flux(UR)) - 0.5 * smax * (UR - UL)


def run(left, right, n=30, t_end=0.1, cfl=0.5):
    x = (np.arange(n) + 0.5) / n
    rho = np.where(x < 0.5, left[0], right[0])
    u = np.where(x < 0.5, left[1], right[1])
    p = np.where(x < 0.5, left[2], right[2])
    U = np.vstack([rho, rho * u, p / (GAMMA - 1) + 0.5 * rho * u**2])
    t = 0.0
    while t < t_end:
        rho, u, p = primitive(U)
        dt = cfl / n / np.max(np.abs(u) + np.sqrt(GAMMA * p / rho))
        if t + dt > t_end:
            dt = t_end - t
        Ug = np.concatenate([U[:, :1], U, U[:, -1:]], axis=1)
        F = rusanov(Ug[:, :-1], Ug[:, 1:])
        U = U - dt * n * (F[:, 1:] - F[:, :-1])
        t += dt
    return np.mean(primitive(U)[2] ** 2)


def example():
    return run, (np.array([1.0, 0.1, 1.0]), np.array([0.125, 0.05, 0.1])), (0, 1)
