"""A jelly of particles on a grid by the material point method, as in mpm88, aimed by its first velocity."""

import numpy as np

n_grid, dx, dt, stiffness = 16, 1 / 16, 2e-4, 400.0
volume = (dx * 0.5) ** 2


def weights(fx):
    return [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]


def to_grid(x, v, C, J):
    grid_v = np.zeros((n_grid, n_grid, 2))
    grid_m = np.zeros((n_grid, n_grid))
    for p in range(x.shape[0]):
        base = (x[p] / dx - 0.5).astype(int)
        fx = x[p] / dx - base
        w = weights(fx)
        stress = -dt * 4 * stiffness * volume * (J[p] - 1) / dx**2
        affine = stress * np.eye(2) + volume * C[p]
        for i in range(3):
            for j in range(3):
                dpos = (np.array([i, j]) - fx) * dx
                weight = w[i][0] * w[j][1]
                grid_v[base[0] + i, base[1] + j] += weight * (volume * v[p] + affine @ dpos)
                grid_m[base[0] + i, base[1] + j] += weight * volume
    return grid_v, grid_m


def move(grid_v, grid_m):
    for i in range(n_grid):
        for j in range(n_grid):
            if grid_m[i, j] > 0:
                grid_v[i, j] /= grid_m[i, j]
            grid_v[i, j, 1] -= dt * 9.8
            if i < 3 and grid_v[i, j, 0] < 0:
                grid_v[i, j, 0] = 0
            if i > n_grid - 3 and grid_v[i, j, 0] > 0:
                grid_v[i, j, 0] = 0
            if j < 3 and grid_v[i, j, 1] < 0:
                grid_v[i, j, 1] = 0
            if j > n_grid - 3 and grid_v[i, j, 1] > 0:
                grid_v[i, j, 1] = 0


def from_grid(grid_v, x, v, C, J):
    x, v, C, J = x.copy(), v.copy(), C.copy(), J.copy()
    for p in range(x.shape[0]):
        base = (x[p] / dx - 0.5).astype(int)
        fx = x[p] / dx - base
        w = weights(fx)
        new_v = np.zeros(2)
        new_C = np.zeros((2, 2))
        for i in range(3):
            for j in range(3):
                dpos = (np.array([i, j]) - fx) * dx
                weight = w[i][0] * w[j][1]
                g_v = grid_v[base[0] + i, base[1] + j]
                new_v += weight * g_v
                new_C += 4 * weight * np.outer(g_v, dpos) / dx**2
        v[p] = new_v
        x[p] += dt * v[p]
        J[p] *= 1 + dt * np.trace(new_C)
        C[p] = new_C
    return x, v, C, J


def loss(v0, x, steps=4):
    n = x.shape[0]
    v = np.zeros((n, 2)) + v0
    C, J = np.zeros((n, 2, 2)), np.ones(n)
    for _ in range(steps):
        grid_v, grid_m = to_grid(x, v, C, J)
        move(grid_v, grid_m)
        x, v, C, J = from_grid(grid_v, x, v, C, J)
    return np.sum(np.mean(x, axis=0) ** 2)


def example():
    rng = np.random.default_rng(88)
    return loss, (np.array([0.1, -1.0]), rng.uniform(0.3, 0.7, (12, 2))), 0
