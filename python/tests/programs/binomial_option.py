"""An American put in a binomial tree with a number of steps that is given."""

import math

import numpy as np


def american_put(S, K, r, sigma, T, steps):
    dt = T / steps
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    discount = math.exp(-r * dt)
    values = []
    for j in range(steps + 1):
        values.append(max(K - S * u ** (2 * j - steps), 0.0))
    for n in range(steps - 1, -1, -1):
        for j in range(n + 1):
            hold = discount * (p * values[j + 1] + (1 - p) * values[j])
            exercise = K - S * u ** (2 * j - n)
            values[j] = max(hold, exercise)
    return values[0]


def example():
    return american_put, (100.0, 102.0, 0.03, 0.2, 1.0, 8), (0, 1, 2, 3, 4)
