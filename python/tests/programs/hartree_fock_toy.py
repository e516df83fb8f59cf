"""A closed-shell self-consistent field in a small basis: iterate until the energy stands still."""

import numpy as np


def core_hamiltonian(z, alpha):
    n = len(alpha)
    H = np.zeros((n, n))
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            p = alpha[i] + alpha[j]
            S[i, j] = (np.pi / p) ** 1.5
            T = 3 * alpha[i] * alpha[j] * np.pi**1.5 / p**2.5
            V = -2 * np.pi * z / p
            H[i, j] = T + V
    return H, S


def repulsion(alpha):
    n = len(alpha)
    eri = np.zeros((n, n, n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                for l in range(n):
                    p, q = alpha[i] + alpha[j], alpha[k] + alpha[l]
                    eri[i, j, k, l] = 2 * np.pi**2.5 / (p * q * np.sqrt(p + q))
    return eri


def scf(alpha, z=2.0, max_iter=40, tol=1e-11):
    H, S = core_hamiltonian(z, alpha)
    eri = repulsion(alpha)
    s, U = np.linalg.eigh(S)
    X = U @ np.diag(1 / np.sqrt(s)) @ U.T
    D = np.zeros_like(H)
    e_old = 0.0
    for it in range(max_iter):
        J = np.einsum("ijkl,kl->ij", eri, D)
        K = np.einsum("ikjl,kl->ij", eri, D)
        F = H + 2 * J - K
        eps, C = np.linalg.eigh(X.T @ F @ X)
        C = X @ C
        occ = C[:, :1]
        D = occ @ occ.T
        e = np.sum(D * (H + F))
        if abs(e - e_old) < tol:
            break
        e_old = e
    return e


def example():
    return scf, (np.array([0.3, 1.2, 5.0]),), 0
