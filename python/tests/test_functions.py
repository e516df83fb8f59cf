"""NumPy's functions, operators, broadcasting and promotion on traced arrays."""

import numpy as np
import pytest
from oracle import check, check_jax, check_value, collector

rng = np.random.default_rng(2)
x3, y3, m23, m34, t234 = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 3, 4))
positive = rng.uniform(0.5, 2.0, size=3)


CASES, case = collector()


@case(x3, m23)
def broadcast_row(a, b):
    return np.sum(a * b + a - b / 2.0)


@case(rng.normal(size=2), m23)
def broadcast_column(a, b):
    return np.sum(a[:, None] * b)


@case(rng.normal(size=(2, 1)), rng.normal(size=(1, 3)))
def broadcast_both(a, b):
    return np.sum(np.sin(a * b) + a)


@case(1.5, t234)
def broadcast_scalar(a, b):
    return np.sum(a * b) + np.sum(b) * a - 2 * a + (1 - a) / 3


@case(rng.normal(size=(3, 1)), t234)
def broadcast_middle(a, b):
    return np.sum(a * b * b)


@case(rng.normal(size=(1, 1)), 2.0)
def broadcast_ones(a, b):
    return np.sum(a * b + np.ones((2, 3)) * a)


@case(positive)
def elementwise(x):
    return np.sum(np.sin(x) + np.cos(x) * np.exp(-x) + np.log(x) / np.sqrt(x) + np.tanh(x) + np.square(x) + +x)


@case(positive)
def powers(x):
    return np.sum(x**2 + x**3 + x**0.5 + x**-1 + x**-2 + x**1.5 + x**0 + x**1 + 2.0 * x**7 + np.power(x, 2.0))


@case(x3, y3)
def selection(x, y):
    return np.sum(np.where(x > y, x * y, x - y)) + np.sum(np.where(np.logical_and(x > 0, np.logical_not(y > 0)), x, 0.0))


@case(x3, y3)
def logic_operators(x, y):
    return np.sum(np.where((x > 0) & (y < 0) | ~(x <= y), x, 2 * y)) + np.sum(np.where(np.logical_or(x != y, x == 0), x, y))


@case(t234)
def sums(x):
    return np.sum(np.sum(x, axis=1) ** 2) + np.sum(x.sum(axis=(0, 2)) ** 2) + np.sum(np.sum(x, axis=-1, keepdims=True) * x) + x.sum()


@case(t234)
def means(x):
    return np.mean(x) + np.sum(np.mean(x, axis=1) ** 2) + np.sum(x.mean(axis=0, keepdims=True) * x)


@case(m23, m34, x3)
def products(a, b, v):
    return np.sum((a @ b) ** 2) + np.sum(np.dot(a, v) ** 2) + v @ v + np.sum(v @ b) + np.dot(v, v) + np.sum(a.dot(b))


@case(t234, rng.normal(size=(2, 4, 5)), rng.normal(size=4), rng.normal(size=(4, 2)))
def batch_products(a, b, v, c):
    return np.sum((a @ b) ** 2) + np.sum((a @ v) ** 2) + np.sum((v @ b) ** 2) + np.sum(np.matmul(a, c) ** 2)


@case(t234, rng.normal(size=(4, 2)))
def dot_of_many_axes(a, c):
    return np.sum(np.dot(a, c) ** 2)


@case(m23)
def shapes(x):
    y = np.reshape(x, (3, 2)) @ x + x.T @ x.reshape(2, 3)
    z = np.expand_dims(x, 1) * np.transpose(x.reshape(3, 2), (1, 0))[:, None] + np.broadcast_to(x[0], (2, 1, 3))
    return np.sum(y * y) + np.sum(z * z) + np.sum(np.squeeze(x[:1]) ** 2) + np.sum(x.ravel()[::2] ** 3)


@case(x3, y3)
def joined(x, y):
    z = np.concatenate([x, y * y, x])
    s = np.stack([x, y], axis=1)
    return np.sum(z * z) + np.sum(s[:, 0] * s[:, 1] ** 2)


@case(1.5, -0.5)
def arrays_of_scalars(a, b):
    v = np.array([a, b, a * b, 1.0])
    w = np.array([[a, 2.0], [3.0, b]])
    return np.sum(v**2) + np.sum(w @ w) + np.sum(np.full(3, a) * np.full((3,), 2.0))


@case(x3)
def likes(x):
    return np.sum(np.zeros_like(x) + np.ones_like(x) * x + np.full_like(x, 3.0) * x * x) + x.shape[0] * np.sum(x) / np.size(x) * np.ndim(x)


@pytest.mark.parametrize("f, args", CASES)
def test_equals_jax(f, args):
    check_jax(f, *args)


@pytest.mark.parametrize("f, args", [pytest.param(*c.values, id=c.id) for c in CASES if c.id not in ("selection", "logic_operators")])
def test_equals_complex_step(f, args):
    check(f, *args)


def promotion(x, i, n, b):
    return i * x, n / 2, n // 2, n % 3, -n // 2, (-n) % 3, i + n, i / i, b * i, b + b, i * i, n * 1.0, np.sum(b), x + b, x > i, i == n, b & b, n**2


def test_promotion_is_numpys():
    check_value(promotion, x3, np.array([1, 2, 3]), 7, np.array([True, False, True]))


def test_dtypes_are_numpys():
    import retrograd as rg

    found = rg.jit(promotion)(x3, np.array([1, 2, 3]), 7, np.array([True, False, True]))
    expected = promotion(x3, np.array([1, 2, 3]), 7, np.array([True, False, True]))
    assert [np.asarray(a).dtype for a in found] == [np.asarray(a).dtype for a in expected]


def closure_constants(x):
    n = len(x)
    grid = np.linspace(0.0, 1.0, n)
    h = grid[1] - grid[0]
    weights = np.arange(n) * 1.0
    return np.sum(weights * x * grid) / h + WEIGHTS @ x + float(np.max(grid)) + int(weights[2])


WEIGHTS = np.array([1.0, 2.0, 3.0])


def test_known_arrays_are_computed_by_numpy():
    check(closure_constants, x3)
