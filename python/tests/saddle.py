"""A saddle point by descents within descents, as in GradBench: `while` loops in gradients in `while` loops."""

import numpy as np

import retrograd as rg

NEAR = 1e-5


def argmin(f, x):
    """By gradient descent, whose steps grow as long as they go down, and shrink where they do not."""
    gradient = rg.grad(f)
    fx, gx, step, steps = f(x), gradient(x), 1e-5, 0
    while np.sqrt(np.sum(gx**2)) > NEAR:
        if steps == 10:
            step, steps = 2.0 * step, 0
            continue
        tried = x - step * gx
        if np.sqrt(np.sum((tried - x) ** 2)) <= NEAR:
            break
        f_tried = f(tried)
        if f_tried < fx:
            x, fx, gx, steps = tried, f_tried, gradient(tried), steps + 1
        else:
            step, steps = step / 2.0, 0
    return x


def argmax(f, x):
    return argmin(lambda x: -f(x), x)


def saddle(start):
    """Where a function of two points is least by the one and greatest by the other."""

    def f(a, b):
        return (a[0] ** 2 + a[1] ** 2) - (b[0] ** 2 + b[1] ** 2)

    def greatest(a):
        return f(a, argmax(lambda b: f(a, b), start))

    a = argmin(greatest, start)
    return np.concatenate([a, argmax(lambda b: f(a, b), start)])
