"""A hopping mass on a spring: flight and stance by a mode in a string, events found inside of a step, apex heights kept."""

import numpy as np


def hop(stiffness, rest, h0, steps=120, dt=0.01, g=9.81):
    y, v, mode = h0, 0.0, "flight"
    apexes = []
    for n in range(steps):
        if mode == "flight":
            a = -g
        else:
            a = -g + stiffness * (rest - y)
        v_new = v + dt * a
        y_new = y + dt * v_new
        if mode == "flight" and y_new < rest:
            mode = "stance"
        elif mode == "stance" and y_new > rest:
            mode = "flight"
        if v > 0 >= v_new:
            apexes.append(y_new)
        y, v = y_new, v_new
    return y, v, apexes


def objective(stiffness, rest, h0):
    y, v, apexes = hop(stiffness, rest, h0)
    return y + 0.1 * v + (apexes[-1] if apexes else 0.0)


def example():
    return objective, (200.0, 1.0, 1.3), (0, 1, 2)
