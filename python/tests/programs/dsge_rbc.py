"""A real business cycle, log-linearised: steady state, then impulse responses by iterating a policy to a fixed point."""

import numpy as np


def steady_state(alpha, beta, delta):
    k = (alpha / (1 / beta - 1 + delta)) ** (1 / (1 - alpha))
    y = k**alpha
    c = y - delta * k
    return dict(k=k, y=y, c=c, i=delta * k)


def linear_policy(theta, rho, n=200):
    alpha, beta, delta = theta["alpha"], theta["beta"], theta["delta"]
    ss = steady_state(alpha, beta, delta)
    rk = 1 - beta * (1 - delta)
    phi_k, phi_z = 0.5, 0.3
    for _ in range(n):
        # c = phi_k k + phi_z z ; k' = a k + b z
        a = (alpha * ss["y"] + (1 - delta) * ss["k"] - ss["c"] * phi_k) / ss["k"]
        b = (ss["y"] - ss["c"] * phi_z) / ss["k"]
        new_k = phi_k * a - rk * (alpha - 1) * a
        new_z = phi_k * b + phi_z * rho - rk * ((alpha - 1) * b + rho)
        phi_k, phi_z = 0.5 * phi_k + 0.5 * new_k, 0.5 * phi_z + 0.5 * new_z
    return a, b, phi_k, phi_z


def irf_area(theta, rho, horizon=12):
    a, b, phi_k, phi_z = linear_policy(theta, rho, n=15)
    k, z = 0.0, 1.0
    total = 0.0
    for t in range(horizon):
        c = phi_k * k + phi_z * z
        total += theta["beta"] ** t * c
        k, z = a * k + b * z, rho * z
    return total


def example():
    return irf_area, ({"alpha": 0.33, "beta": 0.98, "delta": 0.06}, 0.9), (0, 1)
