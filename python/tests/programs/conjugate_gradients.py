"""Conjugate gradients on a matrix-free operator given as a closure, with a preconditioner passed by keyword."""

import numpy as np


def cg(apply_A, b, x0=None, tol=1e-10, maxiter=None, M=None):
    x = np.zeros_like(b) if x0 is None else x0.copy()
    r = b - apply_A(x)
    z = r if M is None else M(r)
    p = z.copy()
    rz = np.vdot(r, z)
    if maxiter is None:
        maxiter = b.size
    for _ in range(maxiter):
        Ap = apply_A(p)
        alpha = rz / np.vdot(p, Ap)
        x += alpha * p
        r -= alpha * Ap
        if np.linalg.norm(r) < tol * np.linalg.norm(b):
            break
        z = r if M is None else M(r)
        rz_new = np.vdot(r, z)
        p = z + (rz_new / rz) * p
        rz = rz_new
    return x


def poisson_energy(kappa, f):
    h = 1.0 / (f.shape[0] + 1)

    def operator(u):
        U = np.pad(u, 1)
        kx = 0.5 * (kappa[1:, 1:-1] + kappa[:-1, 1:-1])
        ky = 0.5 * (kappa[1:-1, 1:] + kappa[1:-1, :-1])
        fx = kx * (U[1:, 1:-1] - U[:-1, 1:-1])
        fy = ky * (U[1:-1, 1:] - U[1:-1, :-1])
        return -(fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1]) / h**2

    diag = 4 * kappa[1:-1, 1:-1] / h**2
    u = cg(operator, f, M=lambda r: r / diag, maxiter=40)
    return np.sum(f * u) * h**2


def example():
    rng = np.random.default_rng(10)
    return poisson_energy, (1 + rng.random((6, 6)), rng.normal(size=(4, 4))), (0, 1)
