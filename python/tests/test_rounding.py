"""How what the user wrote is rounded, and what `np.where` leaves out."""

import numpy as np
import pytest

import retrograd as rg

POINTS = [0.1, 0.7, 1 / 3, -1.3, 3.7e-5, 1e10 / 3]


def twice(x, y):
    k = 0.7 * x
    return k - k


def squares(x, y):
    return x * x - y * y


def exchanged(x, y):
    return x * y - y * x


def negated(x, y):
    return x * y + (-x) * y


def windows(x, y):
    u = np.ones(4) * x
    d = u * u
    return np.sum(d[1:] - u[:-1] * u[:-1])


def in_a_loop(x, y):
    s = 0.0
    for _ in range(5):
        s = s + (x * y - y * x)
    return s


@pytest.mark.parametrize("f", [twice, squares, exchanged, negated, windows, in_a_loop])
@pytest.mark.parametrize("x", POINTS)
def test_equal_products_have_no_difference(f, x):
    assert rg.jit(f)(x, x) == 0.0
    assert rg.value_and_grad(f, argnums=(0, 1))(x, x)[0] == 0.0


def orbit(x, y):
    s = x
    for _ in range(7):
        s = s + 0.01 * (y * s - s * s)
    return s * y + x * x - 0.3 * s


@pytest.mark.parametrize("x", POINTS)
def test_exact_is_what_is_written(x):
    for f in (orbit, squares):
        expected = f(x, 0.9)
        for found in (rg.jit(f, exact=True)(x, 0.9), rg.value_and_grad(f, exact=True)(x, 0.9)[0]):
            assert np.array_equal(found, expected, equal_nan=True)
    # Inside of another function, too.
    inner = rg.jit(orbit, exact=True)
    assert np.array_equal(rg.jit(lambda x, y: inner(x, y))(x, 0.9), orbit(x, 0.9), equal_nan=True)


def test_exact_is_true_or_false():
    with pytest.raises(rg.ArgumentError, match="`exact` is True or False, found 1"):
        rg.jit(orbit, exact=1)


def root(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


def chain(x):
    return np.sum(np.where(x > 0, np.log(np.sqrt(x)), 0.0))


def quotient(x):
    return np.sum(np.where(x == 0, 1.0, np.sin(x) / x))


@pytest.mark.parametrize("f, derivative", [
    (root, lambda x: 0.5 / np.sqrt(x)),
    (chain, lambda x: 0.5 / x),
])
def test_what_where_leaves_out_has_the_gradient_zero(f, derivative):
    x = np.array([-1.0, 0.0, 2.0, 5.0])
    expected = np.array([0.0, 0.0, *derivative(x[2:])])
    np.testing.assert_allclose(rg.grad(f)(x), expected, rtol=1e-14)
    assert np.all(np.isfinite(rg.hessian(f)(x)))


def test_a_quotient_with_a_hole():
    assert rg.grad(quotient)(np.array([0.0]))[0] == 0.0


def test_what_is_also_used_elsewhere_keeps_its_nan():
    def f(x):
        s = np.sqrt(x)
        return np.where(x > 0, s, 0.0) + 0.0 * s

    with np.errstate(invalid="ignore"):
        assert np.isnan(rg.grad(f)(-1.0))
