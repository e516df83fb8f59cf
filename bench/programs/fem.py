"""A block of stable neo-Hookean tetrahedra, symplectic Euler: 3×3 matrices per element, gather and scatter-add over an irregular mesh.

Smith, de Goes, Kim 2018, section 3.4: P = μ (1 − 1/(I + 1)) F + λ (J − α) ∂J/∂F, α = 1 + 3μ/4λ, I = F:F, J = det F.
The gradient is that of the final state by the first velocities and by the two moduli of every element.
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np

from contender import Contender, Program, aligned, build, c_call, copied

SIZES = {"1728 nodes, 7986 tetrahedra, 1000 steps": dict(edge=12, steps=1000)}
SMALL = dict(edge=3, steps=300)
DT = 0.001


def program(random, edge, steps):
    X, tets, B, volume, w = mesh(edge)
    count = len(tets)
    moduli = random.uniform(0.8, 1.2, count), random.uniform(1.5, 2.5, count)
    return Program(
        args=(0.3 * random.standard_normal(X.shape), *moduli, X, tets, B, volume, w),
        forms={"": matrices(steps), "element loop": element_loop(steps, count)},
        argnums=(0, 1, 2),
        c=lambda args: c(steps, args),
        jax_values={"fori_loop, matrices": value(steps, forces_by_matrices), "fori_loop, components": value(steps, forces_by_components)},
        jax_losses={
            "scan, matrices, checkpoint each step": scan(steps, forces_by_matrices),
            "scan, components, checkpoint each step": scan(steps, forces_by_components),
        },
        budgets=("1 GB", "100 MB"),
        numpy=edge < 4,
        tolerance=1e-8,
    )


def mesh(edge):
    """(positions, tetrahedra, inverse edge matrices, volumes, inverse masses) of a unit cube of cells, six tetrahedra in each."""
    X = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, edge)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    at = lambda i, j, k: (i * edge + j) * edge + k
    tets = []
    for i, j, k in np.ndindex(edge - 1, edge - 1, edge - 1):
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            corner, path = [i, j, k], [at(i, j, k)]
            for axis in order:
                corner[axis] += 1
                path.append(at(*corner))
            tets.append(path)
    tets = np.array(tets, dtype=np.int64)
    D = np.swapaxes(X[tets[:, 1:]] - X[tets[:, :1]], 1, 2)
    flipped = np.linalg.det(D) < 0
    tets[flipped, 2:] = tets[flipped, :1:-1]
    D = np.swapaxes(X[tets[:, 1:]] - X[tets[:, :1]], 1, 2)
    volume = np.linalg.det(D) / 6.0
    mass = np.zeros(len(X))
    np.add.at(mass, tets, volume[:, None] / 4.0)
    return X, tets, np.linalg.inv(D), volume, 1.0 / mass


def forces(x, mu, lam, tets, B, volume):
    """Of every element on its corners, added up by nodes."""
    p = x[tets]
    F = np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0], p[:, 3] - p[:, 0]], axis=2) @ B
    C = np.stack([np.cross(F[:, :, 1], F[:, :, 2]), np.cross(F[:, :, 2], F[:, :, 0]), np.cross(F[:, :, 0], F[:, :, 1])], axis=2)
    J = np.sum(F[:, :, 0] * C[:, :, 0], axis=1)
    a = mu * (1.0 - 1.0 / (np.sum(F * F, axis=(1, 2)) + 1.0))
    b = lam * (J - 1.0) - 0.75 * mu
    H = (a[:, None, None] * F + b[:, None, None] * C) @ np.swapaxes(B, 1, 2) * volume[:, None, None]
    f = np.zeros_like(x)
    np.add.at(f, tets[:, 0], np.sum(H, axis=2))
    np.add.at(f, tets[:, 1], -H[:, :, 0])
    np.add.at(f, tets[:, 2], -H[:, :, 1])
    np.add.at(f, tets[:, 3], -H[:, :, 2])
    return f


def matrices(steps):
    def loss(v, mu, lam, X, tets, B, volume, w):
        x = X
        for t in range(steps):
            v = v + DT * w[:, None] * forces(x, mu, lam, tets, B, volume)
            x = x + DT * v
        return np.sum((x - X) ** 2) + np.sum(v * v)

    return loss


def element_loop(steps, count):
    def loss(v, mu, lam, X, tets, B, volume, w):
        x = X
        for t in range(steps):
            f = np.zeros_like(v)
            for e in range(count):
                F = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
                for i in (0, 1, 2):
                    d = [x[tets[e, k], i] - x[tets[e, 0], i] for k in (1, 2, 3)]
                    F[i] = [d[0] * B[e, 0, j] + d[1] * B[e, 1, j] + d[2] * B[e, 2, j] for j in (0, 1, 2)]
                squares = sum([F[i][j] * F[i][j] for i in (0, 1, 2) for j in (0, 1, 2)])
                C = [[F[i - 2][j - 2] * F[i - 1][j - 1] - F[i - 2][j - 1] * F[i - 1][j - 2] for j in (0, 1, 2)] for i in (0, 1, 2)]
                J = F[0][0] * C[0][0] + F[0][1] * C[0][1] + F[0][2] * C[0][2]
                a = mu[e] * (1.0 - 1.0 / (squares + 1.0))
                b = lam[e] * (J - 1.0) - 0.75 * mu[e]
                for i in (0, 1, 2):
                    P = [volume[e] * (a * F[i][j] + b * C[i][j]) for j in (0, 1, 2)]
                    H = [P[0] * B[e, k, 0] + P[1] * B[e, k, 1] + P[2] * B[e, k, 2] for k in (0, 1, 2)]
                    f[tets[e, 0], i] += H[0] + H[1] + H[2]
                    f[tets[e, 1], i] -= H[0]
                    f[tets[e, 2], i] -= H[1]
                    f[tets[e, 3], i] -= H[2]
            v = v + DT * w[:, None] * f
            x = x + DT * v
        return np.sum((x - X) ** 2) + np.sum(v * v)

    return loss


def c(steps, args):
    """Elements are filled up to whole vectors with ones of no volume, and lie component by component."""
    library, seconds = build(pathlib.Path(__file__).with_suffix(".c"))
    v0, mu, lam, X, tets, B, volume, w = args
    nodes, count = len(X), len(tets)
    padded = -(-count // 8) * 8

    def filled(array, components):
        result = aligned(components, padded)
        result[:, :count] = array.reshape(count, components).T
        return result

    corners = np.zeros((4, padded), dtype=np.int64)
    corners[:, :count] = tets.T
    fixed = (nodes, padded, steps, DT, copied(v0), filled(mu, 1), filled(lam, 1), copied(X), corners, filled(B, 9), filled(volume, 1), copied(w))
    x, v, f, dv, dx = (aligned(nodes, 3) for _ in range(5))
    tape, dmu, dlam = aligned(steps, nodes, 3), aligned(padded), aligned(padded)
    forward = c_call(library.forward, *fixed, x, v, f)
    backward = c_call(library.gradient, *fixed, x, v, f, tape, dx, dv, dmu, dlam)
    taken = sum(array.nbytes for array in (x, v, f, dx, dv, tape, dmu, dlam))
    values = [Contender("C", lambda: (forward(), None), x.nbytes * 3, seconds)]
    return values, [Contender("C, keeps positions", lambda: (backward(), (dv, dmu[:count], dlam[:count])), taken, seconds)]


def forces_by_matrices(x, mu, lam, tets, B, volume):
    p = x[tets]
    F = jnp.swapaxes(p[:, 1:] - p[:, :1], 1, 2) @ B
    C = jnp.stack([jnp.cross(F[:, :, 1], F[:, :, 2]), jnp.cross(F[:, :, 2], F[:, :, 0]), jnp.cross(F[:, :, 0], F[:, :, 1])], axis=2)
    J = jnp.sum(F[:, :, 0] * C[:, :, 0], axis=1)
    a = mu * (1.0 - 1.0 / (jnp.sum(F * F, axis=(1, 2)) + 1.0))
    b = lam * (J - 1.0) - 0.75 * mu
    H = (a[:, None, None] * F + b[:, None, None] * C) @ jnp.swapaxes(B, 1, 2) * volume[:, None, None]
    at_corners = jnp.stack([jnp.sum(H, axis=2), -H[:, :, 0], -H[:, :, 1], -H[:, :, 2]], axis=1)
    return jnp.zeros_like(x).at[tets].add(at_corners)


def forces_by_components(x, mu, lam, tets, B, volume):
    """Every entry of a matrix is an array over elements, so that XLA fuses a whole element."""
    three = range(3)
    p = [[x[:, i][tets[:, k]] for i in three] for k in range(4)]
    d = [[p[k + 1][i] - p[0][i] for k in three] for i in three]
    F = [[sum(d[i][k] * B[:, k, j] for k in three) for j in three] for i in three]
    C = [[F[i - 2][j - 2] * F[i - 1][j - 1] - F[i - 2][j - 1] * F[i - 1][j - 2] for j in three] for i in three]
    J = sum(F[0][j] * C[0][j] for j in three)
    a = volume * mu * (1.0 - 1.0 / (sum(F[i][j] ** 2 for i in three for j in three) + 1.0))
    b = volume * (lam * (J - 1.0) - 0.75 * mu)
    P = [[a * F[i][j] + b * C[i][j] for j in three] for i in three]
    H = [[sum(P[i][j] * B[:, k, j] for j in three) for k in three] for i in three]
    at_corners = [jnp.concatenate([H[i][0] + H[i][1] + H[i][2], -H[i][0], -H[i][1], -H[i][2]]) for i in three]
    where = tets.T.reshape(-1)
    return jnp.stack([jnp.zeros(len(x)).at[where].add(one) for one in at_corners], axis=1)


def step(state, forces, mu, lam, tets, B, volume, w):
    x, v = state
    v = v + DT * w[:, None] * forces(x, mu, lam, tets, B, volume)
    return x + DT * v, v


def final(state, X):
    return jnp.sum((state[0] - X) ** 2) + jnp.sum(state[1] ** 2)


def value(steps, forces):
    def function(v, mu, lam, X, tets, B, volume, w):
        body = lambda i, state: step(state, forces, mu, lam, tets, B, volume, w)
        return final(jax.lax.fori_loop(0, steps, body, (X, v)), X)

    return function


def scan(steps, forces):
    def function(v, mu, lam, X, tets, B, volume, w):
        body = jax.checkpoint(lambda state, _: (step(state, forces, mu, lam, tets, B, volume, w), None))
        return final(jax.lax.scan(body, (X, v), None, length=steps)[0], X)

    return function
