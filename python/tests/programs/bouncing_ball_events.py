"""A bouncing ball with drag: adaptive Heun, Newton's method for the impact, a log of bounces."""
import numpy as np
G = 9.81


def f(s, cd):
    return np.array([s[1], -G - cd * s[1] * abs(s[1])])


def heun(s, h, cd):
    k1 = f(s, cd)
    k2 = f(s + h * k1, cd)
    return s + 0.5 * h * (k1 + k2), 0.5 * h * np.max(np.abs(k2 - k1))


def simulate(params, tend=1.5, tol=1e-4):
    cd, e, h0 = params
    t, s, h = 0.0, np.array([h0, 0.0]), 1e-2
    bounces = 0
    while t < tend:
        h = min(h, tend - t)
        new, err = heun(s, h, cd)
        if err > tol:
            h *= 0.5
            continue
        if new[0] < 0:
            lo = h
            for _ in range(6):
                at, _ = heun(s, lo, cd)
                lo -= at[0] / at[1]
            new, _ = heun(s, lo, cd)
            t += lo
            s = np.array([0.0, -e * new[1]])
            bounces += 1
            h = 1e-3
            continue
        t += h
        s = new
        h *= min(2.0, 0.9 * np.sqrt(tol / (err + 1e-12)))
    return s[0] + 0.01 * bounces


def example():
    return simulate, (np.array([0.05, 0.8, 1.0]),), 0
