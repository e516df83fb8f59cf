"""Slice sampling with a seeded generator: stepping out and shrinking, `while True` with break; mean of the chain by the parameters."""
import numpy as np


def logp(x, mu, tau):
    return -0.5 * tau * (x - mu) ** 2 - 0.1 * x ** 4


def chain(mu, tau, us, n=15, w=1.0):
    x, acc = 0.3, 0.0
    for i in range(n):
        u = us[i]
        y = logp(x, mu, tau) + np.log(u[0])
        left = x - w * u[1]
        right = left + w
        while logp(left, mu, tau) > y:
            left -= w
        while logp(right, mu, tau) > y:
            right += w
        k = 2
        while True:
            prop = left + u[k] * (right - left)
            if logp(prop, mu, tau) > y:
                x = prop
                break
            if prop < x:
                left = prop
            else:
                right = prop
            k += 1
        acc += x
    return acc / n


def example():
    us = np.random.default_rng(9).random((15, 40))
    return chain, (0.4, 1.7, us), (0, 1)
