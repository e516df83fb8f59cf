"""Phases from intensities by Wirtinger-like descent in real pairs, starting from a spectral guess."""

import numpy as np


def measure(Ar, Ai, xr, xi):
    yr = Ar @ xr - Ai @ xi
    yi = Ar @ xi + Ai @ xr
    return yr, yi


def spectral_start(Ar, Ai, b, iterations=15):
    n = Ar.shape[1]
    vr, vi = np.ones(n), np.zeros(n)
    for _ in range(iterations):
        yr, yi = measure(Ar, Ai, vr, vi)
        yr, yi = b * yr, b * yi
        vr, vi = Ar.T @ yr + Ai.T @ yi, Ar.T @ yi - Ai.T @ yr
        norm = np.sqrt((vr**2 + vi**2).sum())
        vr, vi = vr / norm, vi / norm
    scale = np.sqrt(b.sum() / (Ar**2 + Ai**2).sum() * n)
    return scale * vr, scale * vi


def descend(Ar, Ai, b, steps=10, mu=0.1):
    xr, xi = spectral_start(Ar, Ai, b)
    m = len(b)
    for t in range(steps):
        yr, yi = measure(Ar, Ai, xr, xi)
        res = (yr**2 + yi**2 - b) / m
        gr = Ar.T @ (res * yr) + Ai.T @ (res * yi)
        gi = Ar.T @ (res * yi) - Ai.T @ (res * yr)
        xr, xi = xr - mu * gr, xi - mu * gi
    return xr, xi


def residual(b, Ar, Ai):
    xr, xi = descend(Ar, Ai, b)
    yr, yi = measure(Ar, Ai, xr, xi)
    return np.mean((yr**2 + yi**2 - b) ** 2)


def example():
    rng = np.random.default_rng(71)
    Ar, Ai = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
    yr, yi = measure(Ar, Ai, np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.7, -0.4]))
    return residual, (yr**2 + yi**2 + 0.05 * rng.random(12), Ar, Ai), (0, 1)
