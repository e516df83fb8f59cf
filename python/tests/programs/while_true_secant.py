"""The secant method in a while True with two ways out, inside of a continuation in a parameter."""

import numpy as np


def secant(f, a, b):
    fa, fb = f(a), f(b)
    count = 0
    while True:
        if abs(fb - fa) < 1e-14:
            break
        c = b - fb * (b - a) / (fb - fa)
        a, fa, b = b, fb, c
        fb = f(b)
        count += 1
        if abs(fb) < 1e-13 or count > 40:
            break
    return b


def curve(p):
    guess, total = 0.5, 0.0
    for load in (0.2, 0.4, 0.6, 0.8):
        f = lambda v: v + p[0] * v**3 - p[1] * np.sin(v) - load
        guess = secant(f, guess, guess + 0.1)
        total += guess**2
    return total


def example():
    return curve, (np.array([0.6, 0.3]),), (0,)
