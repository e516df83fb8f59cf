"""A wave on a string with three buffers that rotate by tuple assignment, absorbing ends and a moving hammer."""

import numpy as np


def play(speed, damping, strike):
    old, now, new = np.zeros(16), np.zeros(16), np.zeros(16)
    heard = []
    for n in range(24):
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + speed**2 * (now[2:] - 2 * now[1:-1] + now[:-2]) - damping * (now[1:-1] - old[1:-1])
        if n < len(strike):
            new[5] += strike[n]
        new[0] = now[1] + (speed - 1) / (speed + 1) * (new[1] - now[0])
        new[-1] = 0.0
        heard.append(new[12] ** 2)
        old, now, new = now, new, old
    return sum(heard) + np.sum(now[:4] * old[:4])


def example():
    return play, (0.8, 0.05, np.array([0.3, 0.7, 0.4])), (0, 1, 2)
