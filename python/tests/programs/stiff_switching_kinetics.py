"""Robertson-like kinetics with a valve that switches by temperature: implicit Euler with Newton steps until they are small."""

import numpy as np


def rates(y, k, T):
    k1, k2, k3 = k * np.exp(-(1.0 / T - 1.0))
    r1, r2, r3 = k1 * y[0], k2 * y[1] * y[2], k3 * y[1] ** 2
    return np.array([-r1 + r2, r1 - r2 - r3, r3])


def jacobian(y, k, T):
    k1, k2, k3 = k * np.exp(-(1.0 / T - 1.0))
    return np.array([[-k1, k2 * y[2], k2 * y[1]], [k1, -k2 * y[2] - 2 * k3 * y[1], -k2 * y[1]], [0.0, 2 * k3 * y[1], 0.0]])


def implicit_step(y, k, T, h, tol=1e-10):
    new = y.copy()
    for iteration in range(20):
        residual = new - y - h * rates(new, k, T)
        if np.max(np.abs(residual)) < tol:
            break
        new = new - np.linalg.solve(np.eye(3) - h * jacobian(new, k, T), residual)
    else:
        raise RuntimeError("Newton did not converge")
    return new


def final_product(k, T0, cooling, h=0.05, steps=25):
    y, T, valve = np.array([1.0, 0.0, 0.0]), T0, False
    for n in range(steps):
        if T > 1.3 and not valve:
            valve = True
        elif T < 1.15 and valve:
            valve = False
        heat = y[0] - implicit_step(y, k, T, h)[0]
        y = implicit_step(y, k, T, h)
        T = T + 4.0 * heat - (cooling if valve else 0.0) * h * (T - 1.0)
    return y[2] + 0.1 * T


def example():
    return final_product, (np.array([1.5, 20.0, 30.0]), 1.1, 3.0), (0, 1, 2)
