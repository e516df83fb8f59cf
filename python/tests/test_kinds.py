"""Numbers that are Python's on one way through a function and NumPy's on another: what does not depend on it is computed, the rest is exact or refused."""

import numpy as np
import pytest

import retrograd as rg

x32 = np.array([0.1, 0.7, -0.3, 1.9], np.float32)
x64 = np.array([0.1, 0.7, -0.3, 1.9])


def same(f, *args):
    """The result has the element type and the digits of NumPy's."""
    found, expected = rg.jit(f)(*args), f(*args)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def sum_from_zero(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


def scaled_before_the_first_step(x):
    total = 0.1
    for i in range(len(x)):
        total = total * 0.3 + x[i]
    return total


def product_with_single(x):
    scale = 0.1
    y = np.zeros(4, np.float32)
    for i in range(4):
        y = y + scale * x
        scale = scale * np.float64(1.1)
    return y


def first_is_a_literal(x):
    best = 0.3
    for v in x:
        if v > best:
            best = v
    return best


def counted_by_numpy(x):
    n = 0
    for i in np.arange(3):
        n = n + i * 2
    return n / 3


@pytest.mark.parametrize("f", [sum_from_zero, scaled_before_the_first_step, product_with_single, first_is_a_literal, counted_by_numpy])
@pytest.mark.parametrize("x", [x32, x64], ids=["f32", "f64"])
def test_what_is_carried_is_exact_or_refused(f, x):
    try:
        same(f, x)
    except rg.DTypeError:
        assert f is first_is_a_literal and x is x32


def test_a_kind_that_depends_on_a_condition_is_refused_where_it_matters():
    def f(x, s):
        scale = 0.1 if s > 0 else np.float64(0.1)
        return np.sum(x * scale)

    same(f, x64, 1.0)
    with pytest.raises(rg.DTypeError, match="Python's on one way"):
        rg.jit(f)(x32, 1.0)


def test_a_type_that_depends_on_a_condition_is_refused():
    def f(s):
        value = 0.5 if s > 0 else np.float64(0.5)
        return 1.0 if type(value) is float else 2.0

    def g(s):
        value = 0.5 if s > 0 else np.float64(0.5)
        return 1.0 if isinstance(value, float) else 2.0

    with pytest.raises(rg.DTypeError, match="Python's on one way"):
        rg.jit(f)(1.0)
    assert rg.jit(g)(1.0) == g(1.0)


def test_a_division_by_zero_of_pythons_number_is_an_error():
    def f(x):
        total = 0.0
        for i in range(3):
            if x[i] > 1.0:
                total = x[i]
        return 1.0 / total

    with pytest.raises(ZeroDivisionError):
        f(np.zeros(3))
    with pytest.raises(ZeroDivisionError):
        rg.jit(f)(np.zeros(3))
