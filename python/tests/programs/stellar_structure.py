"""Lane and Emden's equation outwards until the density is zero; the first zero refined by a secant."""

import numpy as np


def rhs(xi, theta, dtheta, n):
    base = theta if theta > 0 else 0.0
    return dtheta, -(base**n) - 2 / xi * dtheta


def rk4(xi, theta, dtheta, h, n):
    a1, b1 = rhs(xi, theta, dtheta, n)
    a2, b2 = rhs(xi + h / 2, theta + h / 2 * a1, dtheta + h / 2 * b1, n)
    a3, b3 = rhs(xi + h / 2, theta + h / 2 * a2, dtheta + h / 2 * b2, n)
    a4, b4 = rhs(xi + h, theta + h * a3, dtheta + h * b3, n)
    return theta + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), dtheta + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)


def first_zero(n, h=0.05):
    xi = 1e-3
    theta = 1 - xi**2 / 6 + n * xi**4 / 120
    dtheta = -xi / 3 + n * xi**3 / 30
    while theta > 0:
        old = (xi, theta, dtheta)
        theta, dtheta = rk4(xi, theta, dtheta, h, n)
        xi += h
    xi0, th0, d0 = old
    return xi0 + h * th0 / (th0 - theta), dtheta


def mass_coordinate(n):
    xi, dtheta = first_zero(n)
    return -(xi**2) * dtheta


def example():
    return mass_coordinate, (1.5,), 0
