"""D2Q9 lattice Boltzmann channel flow by np.roll with bounce back on a boolean wall."""
import numpy as np

c = np.array([(x, y) for x in [0, -1, 1] for y in [0, -1, 1]])
t = 1. / 36. * np.ones(9)
t[np.asarray([np.linalg.norm(ci) < 1.1 for ci in c])] = 1. / 9.
t[0] = 4. / 9.
noslip = [c.tolist().index((-c[i]).tolist()) for i in range(9)]


def equilibrium(rho, u):
    cu = 3.0 * np.dot(c, u.transpose(1, 0, 2))
    usqr = 3. / 2. * (u[0] ** 2 + u[1] ** 2)
    feq = np.zeros((9,) + rho.shape)
    for i in range(9):
        feq[i, :, :] = rho * t[i] * (1. + cu[i] + 0.5 * cu[i] ** 2 - usqr)
    return feq


def flow(omega, force, wall, steps=12):
    nx, ny = wall.shape
    fin = equilibrium(np.ones((nx, ny)), np.zeros((2, nx, ny)))
    for time in range(steps):
        rho = np.sum(fin, axis=0)
        u = np.dot(c.transpose(), fin.transpose((1, 0, 2))) / rho
        u[0] += force / omega
        fout = fin - omega * (fin - equilibrium(rho, u))
        for i in range(9):
            fout[i, wall] = fin[noslip[i], wall]
        for i in range(9):
            fin[i, :, :] = np.roll(np.roll(fout[i, :, :], c[i, 0], axis=0), c[i, 1], axis=1)
    rho = fin.sum(axis=0)
    u = np.dot(c.T, fin.transpose((1, 0, 2))) / rho
    return u[0][~wall].mean() * 1e3


def example():
    wall = np.zeros((8, 9), dtype=bool)
    wall[:, [0, -1]] = True
    wall[3, 4] = True
    return flow, (1.2, 1e-3, wall), (0, 1)
