"""Flow around an obstacle by lattice Boltzmann (D2Q9): streaming by np.roll, bounce-back on a mask."""

import numpy as np

E = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
W = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPP = [0, 3, 4, 1, 2, 7, 8, 5, 6]


def equilibrium(rho, ux, uy):
    feq = np.zeros((9,) + rho.shape)
    usq = ux**2 + uy**2
    for i in range(9):
        cu = E[i, 0] * ux + E[i, 1] * uy
        feq[i] = W[i] * rho * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * usq)
    return feq


def drag(u0, tau, solid, nsteps):
    ny, nx = solid.shape
    f = equilibrium(np.ones((ny, nx)), u0 * np.ones((ny, nx)), np.zeros((ny, nx)))
    force = 0.0
    for step in range(nsteps):
        rho = f.sum(axis=0)
        ux = (f * E[:, 0, None, None]).sum(axis=0) / rho
        uy = (f * E[:, 1, None, None]).sum(axis=0) / rho
        f_post = f - (f - equilibrium(rho, ux, uy)) / tau
        for i in range(9):
            f_post[i][solid] = f[OPP[i]][solid]
        for i in range(9):
            force += E[i, 0] * f_post[i][solid].sum()
            f[i] = np.roll(np.roll(f_post[i], E[i, 0], axis=1), E[i, 1], axis=0)
    return force / nsteps


def example():
    y, x = np.mgrid[0:8, 0:12]
    solid = (x - 4) ** 2 + (y - 4) ** 2 < 3
    return drag, (0.08, 0.7, solid, 6), (0, 1)
