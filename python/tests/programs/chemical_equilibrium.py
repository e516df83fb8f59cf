"""Acid and base: the pH by bisection on the charge balance, then Newton; derivative by the constants."""

import numpy as np


def charge_balance(pH, pKa, total, strong):
    h = 10.0**-pH
    oh = 1e-14 / h
    ka = 10.0 ** -np.array(pKa)
    # fractions of a diprotic acid
    d = h**2 + h * ka[0] + ka[0] * ka[1]
    a1 = h * ka[0] / d
    a2 = ka[0] * ka[1] / d
    return h + strong - oh - total * (a1 + 2 * a2)


def solve_ph(pKa, total, strong, lo=0.0, hi=14.0):
    f_lo = charge_balance(lo, pKa, total, strong)
    n = 0
    while hi - lo > 1e-3 and n < 60:
        mid = (lo + hi) / 2
        f = charge_balance(mid, pKa, total, strong)
        if f * f_lo > 0:
            lo, f_lo = mid, f
        else:
            hi = mid
        n += 1
    x = 0.5 * (lo + hi)
    for _ in range(4):
        eps = 1e-6
        slope = (charge_balance(x + eps, pKa, total, strong) - charge_balance(x - eps, pKa, total, strong)) / (2 * eps)
        x = x - charge_balance(x, pKa, total, strong) / slope
    return x


def titration(pKa, total, doses):
    return sum((solve_ph(pKa, total, s) - 7) ** 2 for s in doses)


def example():
    return titration, ([4.2, 7.9], 0.1, [0.02, 0.06, 0.12]), (0, 1)
