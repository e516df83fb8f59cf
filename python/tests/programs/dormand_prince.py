"""Dormand and Prince with step control and events: stops where a projectile reaches the ground."""

import numpy as np

B21 = 1 / 5
B3 = (3 / 40, 9 / 40)
B4 = (44 / 45, -56 / 15, 32 / 9)
B5 = (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729)
B6 = (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656)
B7 = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
E = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def combine(coeffs, ks):
    return sum(c * k for c, k in zip(coeffs, ks))


def dopri_step(f, y, h):
    k1 = f(y)
    k2 = f(y + h * B21 * k1)
    k3 = f(y + h * combine(B3, (k1, k2)))
    k4 = f(y + h * combine(B4, (k1, k2, k3)))
    k5 = f(y + h * combine(B5, (k1, k2, k3, k4)))
    k6 = f(y + h * combine(B6, (k1, k2, k3, k4, k5)))
    y1 = y + h * combine(B7, (k1, k2, k3, k4, k5, k6))
    k7 = f(y1)
    err = h * combine(E, (k1, k2, k3, k4, k5, k6, k7))
    return y1, err


def flight_range(speed, angle, drag, rtol=1e-6, atol=1e-8):
    def f(y):
        v = np.sqrt(y[2] ** 2 + y[3] ** 2)
        return np.array([y[2], y[3], -drag * v * y[2], -9.81 - drag * v * y[3]])

    y = np.array([0.0, 0.0, speed * np.cos(angle), speed * np.sin(angle)])
    h = 0.05
    n = 0
    while n < 500:
        y1, err = dopri_step(f, y, h)
        scale = atol + rtol * np.maximum(np.abs(y), np.abs(y1))
        e = np.sqrt(np.mean((err / scale) ** 2))
        n += 1
        if e > 1:
            h *= max(0.2, 0.9 * e**-0.2)
            continue
        if y1[1] < 0:
            frac = y[1] / (y[1] - y1[1])
            return y[0] + frac * (y1[0] - y[0])
        y = y1
        h = min(h * min(5.0, 0.9 * (e + 1e-16) ** -0.2), 0.1)
    raise RuntimeError("no landing")


def example():
    return flight_range, (12.0, 0.7, 0.02), (0, 1, 2)
