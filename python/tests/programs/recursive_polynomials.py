"""Legendre, Hermite and Laguerre polynomials by memoised recursion and a Gram matrix of a fit."""

import numpy as np


def make_family(name):
    rules = {
        "legendre": lambda n, x, p1, p2: ((2 * n - 1) * x * p1 - (n - 1) * p2) / n,
        "hermite": lambda n, x, p1, p2: x * p1 - (n - 1) * p2,
        "laguerre": lambda n, x, p1, p2: ((2 * n - 1 - x) * p1 - (n - 1) * p2) / n,
    }
    first = {"legendre": lambda x: x, "hermite": lambda x: x, "laguerre": lambda x: 1 - x}
    rule = rules[name]

    def evaluate(n, x, memo=None):
        memo = {} if memo is None else memo
        if n in memo:
            return memo[n]
        if n == 0:
            value = np.ones_like(x)
        elif n == 1:
            value = first[name](x)
        else:
            value = rule(n, x, evaluate(n - 1, x, memo), evaluate(n - 2, x, memo))
        memo[n] = value
        return value

    return evaluate


def fit_error(x, y, degree=4, family="legendre", ridge=1e-3):
    P = make_family(family)
    V = np.stack([P(n, x) for n in range(degree + 1)], axis=-1)
    coef = np.linalg.solve(V.T @ V + ridge * np.eye(degree + 1), V.T @ y)
    return np.sum((V @ coef - y) ** 2) + ridge * np.abs(coef).sum()


def all_families(x, y):
    return sum(fit_error(x, y, family=f) for f in ("legendre", "hermite", "laguerre"))


def example():
    x = np.linspace(-0.9, 0.95, 9)
    return all_families, (x, np.exp(x) * np.sin(3 * x)), (0, 1)
