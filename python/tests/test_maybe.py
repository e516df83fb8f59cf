"""Values that are None on one way, by a traced condition: Python's meaning, also of `is None`, truth, and what a None cannot do."""

import numpy as np
import pytest

import retrograd as rg


def root(d):
    if d <= 0:
        return None
    t = np.sqrt(d)
    if t < 1e-6:
        return None
    return t


def pair(d):
    return (d, 2.0 * d) if d > 1.0 else None


def first_above_one(x):
    for v in x:
        if v > 1.0:
            return v


def asked(x):
    t = root(x[0])
    if t is not None:
        return t * 2
    return -1.0 * x[0]


def compared(x):
    t, best = root(x[0]), 10.0
    if t is not None and t < best:
        best = t
    return best * 1.0


def nearest(x):
    best, which = np.inf, -1
    for k in range(3):
        t = root(x[k])
        if t is not None and t < best:
            best, which = t, k
    if which < 0:
        return 0.1
    return best * which


def least(x):
    best = None
    for k in range(3):
        t = root(x[k])
        if t is not None and (best is None or t < best):
            best = t
    return 0.0 if best is None else best


def falsy(x):
    t = root(x[0])
    if not t:
        return 0.0
    return 1.0 / t


def listed(x):
    found = [root(v) for v in x]
    return sum(t if t is not None else 0.5 for t in found)


def fell_off_the_end(x):
    v = first_above_one(x)
    return v**2 if v is not None else np.sum(x)


def taken_apart(x):
    found = pair(x[0])
    if found is None:
        return x[1]
    a, b = found
    return a * b


def truth_of_a_pair(x):
    found = pair(x[0])
    return found[0] + found[1] if found else x[1]


def carried(x):
    last, total = None, 0.0
    for v in x:
        if last is not None:
            total += (v - last) ** 2
        last = root(v)
    return total


def before_the_first_step(x):
    last = None
    for k in range(6):
        x = np.cos(x)
        if last is not None and np.max(np.abs(x - last)) < 1e-3:
            break
        last = x
    return np.sum(x)


PROGRAMS = [asked, compared, nearest, least, falsy, listed, fell_off_the_end, taken_apart, truth_of_a_pair, carried, before_the_first_step]
POINTS = [np.array([1.5, 2.0, 4.0]), np.array([-1.0, 0.3, 0.7]), np.array([0.4, -2.0, 3.0]), np.array([200.0, -0.1, 0.2]), -np.ones(3)]


@pytest.mark.parametrize("at", range(len(POINTS)))
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_gradient(f, at):
    x = POINTS[at]
    try:
        expected = f(x.copy())
    except TypeError:
        with pytest.raises(TypeError):
            rg.value_and_grad(f)(x)
        return
    value, gradient = rg.value_and_grad(f)(x)
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-15)
    h = 1e-6
    for k, d in enumerate(np.eye(3)):
        np.testing.assert_allclose(gradient[k], (f(x + h * d) - f(x - h * d)) / (2 * h), rtol=1e-6, atol=1e-8)


def test_none_where_a_value_is_needed_is_a_type_error_of_the_run():
    f = rg.value_and_grad(lambda x: root(x) + 1.0)
    assert f(4.0)[0] == 3.0
    with pytest.raises(TypeError, match="None"):
        f(-1.0)


def test_a_result_that_is_none_is_an_error_of_the_run():
    f = rg.jit(lambda x: root(x))
    assert f(np.array([4.0])[0]) == 2.0
    with pytest.raises(rg.Error, match="returns|None"):
        f(np.array([-4.0])[0])


def test_an_operator_in_place_is_seen_by_the_other_names():
    def f(x):
        t = None
        if x[0] > 0:
            t = x * 2
        s = t
        if t is not None:
            t += 1.0
        return s.sum() if s is not None else x.sum()

    for x in (np.array([0.5, -1.0]), np.array([-0.5, 1.5])):
        assert rg.jit(f)(x.copy()) == f(x.copy())
        np.testing.assert_array_equal(rg.grad(f)(x.copy()), [2.0, 2.0] if x[0] > 0 else [1.0, 1.0])
