"""A tensor fitted to diffusion signals by weighted least squares, fractional anisotropy of its eigenvalues."""

import numpy as np


def design(bvals, bvecs):
    rows = []
    for b, (x, y, z) in zip(bvals, bvecs):
        rows.append([1.0, -b * x * x, -b * y * y, -b * z * z, -2 * b * x * y, -2 * b * x * z, -2 * b * y * z])
    return np.array(rows)


def fit_tensor(signal, bvals, bvecs):
    X = design(bvals, bvecs)
    y = np.log(signal)
    beta = np.linalg.pinv(X) @ y
    W = np.diag(np.exp(2 * X @ beta))
    beta = np.linalg.solve(X.T @ W @ X, X.T @ W @ y)
    s0, dxx, dyy, dzz, dxy, dxz, dyz = beta
    return np.array([[dxx, dxy, dxz], [dxy, dyy, dyz], [dxz, dyz, dzz]])


def fractional_anisotropy(signal, bvals, bvecs):
    ev = np.linalg.eigvalsh(fit_tensor(signal, bvals, bvecs))
    md = ev.mean()
    return np.sqrt(1.5 * ((ev - md) ** 2).sum() / (ev**2).sum())


def example():
    rng = np.random.default_rng(50)
    v = rng.normal(size=(10, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    b = np.array([0.0] + [1.0] * 9)
    D = np.diag([1.5, 0.4, 0.3])
    s = np.exp(-b * np.einsum("ni,ij,nj->n", v, D, v)) * np.exp(0.02 * rng.normal(size=10))
    return fractional_anisotropy, (s, b, v), 0
