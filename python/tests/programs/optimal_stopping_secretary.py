"""Values of stopping problems by backward recursion over offers with a list of thresholds, closures over a table."""

import numpy as np


def make_solver(offers, probs, discount):
    cache = {}

    def value(t, horizon):
        if t == horizon:
            return 0.0
        if t in cache:
            return cache[t]
        cont = discount * value(t + 1, horizon)
        v = 0.0
        for w, p in zip(offers, probs):
            v += p * (w if w > cont else cont)
        cache[t] = v
        return v

    return value


def reservation_wages(offers, logits, discount, horizon=8):
    probs = np.exp(logits) / np.exp(logits).sum()
    value = make_solver(offers, probs, discount)
    return [discount * value(t + 1, horizon) for t in range(horizon)]


def average_wage(offers, logits, discount):
    wages = reservation_wages(offers, logits, discount)
    return sum(wages) / len(wages) + max(wages)


def example():
    return average_wage, (np.array([1.0, 1.6, 2.3, 3.1]), np.array([0.3, 0.1, -0.2, -0.9]), 0.92), (0, 1, 2)
