"""`while`, `break` and `continue`: values against plain Python, gradients by the complex step."""

import numpy as np
import pytest
from oracle import close, complex_step, copies
from saddle import saddle

import retrograd as rg

v = np.array([0.3, 0.7, 1.1])


def check(f, *args, tolerance=1e-11):
    value, gradient = rg.value_and_grad(f)(*args)
    close(value, f(*copies(args)), tolerance)
    close(gradient, complex_step(f, args, 0), tolerance)


def halve(x):
    while np.sum(x).real > 0.1:
        x = x * 0.5
    return np.sum(x * x)


def root(a):
    x, k = a, 0
    while abs((x * x - a).real) > 1e-12 and k < 50:
        x = 0.5 * (x + a / x)
        k += 1
    return x


def counted(x, n):
    k, s = 0, 0.0
    while k < n:
        s = s + np.sin(x[0]) * k
        k = k + 1
    return s * x[1]


def starts_known(x):
    error = 1.0
    while error > 1e-3:
        x = np.cos(x)
        error = abs((x - np.cos(x)).real)
    return x


def searched(x, limits):
    i = 0
    while i < 3 and limits[i] < 0.5:
        i += 1
    return x[i] ** 2


def in_place(x, n):
    k = 0
    while k < n:
        x[k % 3] = x[k % 3] * x[(k + 1) % 3]
        k += 1
    return np.sum(x)


def inside_for(x):
    s = 0.0
    for i in range(3):
        z = x[i]
        while z.real > 0.2:
            z = z * 0.5
        s = s + z * x[0]
    return s


def for_inside(x):
    while np.sum(x).real < 50.0:
        for i in range(3):
            x[i] = x[i] * (1.5 + 0.1 * i)
    return np.sum(x)


def endless(x):
    while True:
        x = x * 0.7
        if np.sum(x).real < 0.3:
            break
    return np.sum(np.sin(x))


def negated(x):
    done = x[0].real > 100.0
    while not (done or x[1].real > 3.0):
        x = x * 1.3
        done = x[0].real > 1.0
    return np.sum(x)


def broken_off(x):
    s = 0.0
    for i in range(10):
        s = s + x[i % 3]
        if s.real > 2.5:
            break
        s = s * 1.1
    return s


def skipped(x):
    s = 0.0
    for i in range(6):
        if i % 2 == 1:
            continue
        y = x[i % 3] * i
        if y.real > 3.0:
            continue
        s = s + y * y
    return s


def both(x):
    s, n = 1.0, 0
    for i in range(8):
        if i == 2:
            continue
        if s.real > 4.0:
            if x[0].real > 0:
                break
            else:
                n = n + 1
        s = s * (1.0 + x[i % 3])
        n = n + 1
    return s * n


def ends_at(x):
    i = 0
    for i in range(10):
        if x[0].real * i > 1.0:
            break
    return x[1] * i


def over_a_list(x):
    s = 0.0
    for k in [1, 2, 3, 4]:
        if k == 3:
            break
        s = s + x[0] * k
    return s


@pytest.mark.parametrize("f, args", [(halve, (v,)), (root, (7.0,)), (starts_known, (0.4,)), (inside_for, (v,)), (for_inside, (v,)), (endless, (v,)), (negated, (v,))], ids=lambda f: getattr(f, "__name__", ""))
def test_whiles(f, args):
    check(f, *args)


@pytest.mark.parametrize("f, args", [(counted, (v, 5)), (in_place, (v, 7)), (searched, (v, np.array([0.1, 0.2, 0.9])))], ids=lambda f: getattr(f, "__name__", ""))
def test_whiles_over_counts(f, args):
    check(f, *args)


def test_a_while_may_take_no_step():
    check(halve, 0.01 * v)
    check(counted, v, 0)


@pytest.mark.parametrize("f", [broken_off, skipped, both, ends_at, over_a_list], ids=lambda f: f.__name__)
def test_break_and_continue(f):
    check(f, v)
    check(f, 3.0 * v)


def test_known_conditions_are_plain_python():
    def f(x):
        k = 0
        while k < 4 and True:
            k += 1
            if k == 2:
                continue
            x = x * 2.0
        return np.sum(x)

    check(f, v)


def test_descents_within_descents():
    """GradBench's saddle: gradients of functions that are made of gradients, in loops of a count that is not known."""
    point = rg.jit(saddle).compile(np.ones(2))
    close(point(np.ones(2)), np.zeros(4), 1e-4)
    close(point(np.array([1.0, -0.7])), np.zeros(4), 1e-4)
    # The loop of each of the four descents that are no part of a gradient.
    assert point.outcome.bodies_traced and max(point.outcome.bodies_traced.values()) <= 4
