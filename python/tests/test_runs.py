"""Slices whose length is a traced integer: loops of that length."""

import numpy as np
import pytest
from oracle import check, same_bits

import retrograd as rg

rng = np.random.default_rng(11)
n = 6
A = rng.normal(size=(n, n)) + n * np.eye(n)
b = rng.normal(size=n)


def lu(A):
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A * A)


def elimination(A):
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k:] -= A[i, k] / A[k, k] * A[k, k:]
    return np.sum(A * A)


def substitution(L, b):
    x = np.zeros_like(b)
    for i in range(n):
        x[i] = (b[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
    return np.sum(x * x)


def bounds(x):
    total = 0.0
    for i in range(n):
        total = total + np.sum(x[i:] * x[i:]) + np.sum(np.exp(x[:i])) + x[1:i].sum() + x[-3:i].sum() + x[: i + 2].sum() + x[: i - 2].sum()
        for j in range(n):
            total = total + 0.1 * np.sum(x[i:j])
    return total


def assigned(x):
    y = np.zeros_like(x)
    for i in range(n):
        y[:i] += x[:i] * x[i]
        y[i:] = 2.0 * x[i]
    return np.sum(y * x)


@pytest.mark.parametrize(("f", "args"), [(lu, (A,)), (elimination, (A,)), (substitution, (A, b)), (bounds, (b,)), (assigned, (b,))])
def test_are_numpys(f, args):
    check(f, *args, tolerance=1e-11)
    same_bits(f, *args)


def test_a_view_sees_changes():
    def f(x):
        total = 0.0
        for i in range(n):
            part = x[:i]
            x[0] = x[0] * 1.5
            total = total + np.sum(part)
        return total

    check(f, b)


def shifted(x):
    for i in range(n):
        x[1 : i + 1] = 2.0 * x[:i]
    return np.sum(x)


def overlapping(x):
    for i in range(2, n):
        for j in range(i, n):
            x[i:j] = x[i:j] * x[0]
            x[:i] = x[:i] + 1.0 * x[:j].sum()
    return np.sum(x)


def unknown(x):
    """A count that is not known before the program runs: no loop over it can be unrolled."""
    return n + int(0.0 * np.sum(x))


def unequal(x):
    total = 0.0
    for i in range(unknown(x)):
        total = total + x[:i] @ x[i:]
    return total


def changed(x):
    total = 0.0
    for i in range(unknown(x)):
        twice = 2.0 * x[:i]
        x[0] = 7.0
        total = total + np.sum(twice)
    return total


def matrix(x):
    total = 0.0
    for i in range(unknown(x)):
        total = total + np.sum(x[:i, :i])
    return total


def known(x):
    total = 0.0
    for i in range(unknown(x)):
        total = total + np.sum(x[:i] * x)
    return total


@pytest.mark.parametrize(
    ("f", "x", "kind", "message"),
    [
        (unequal, b, rg.ShapeError, "not known to be equal"),
        (changed, b, rg.Unsupported, "has changed since"),
        (matrix, A, rg.Unsupported, "needs integers or known slices beside it"),
        (known, b, rg.ShapeError, "an array of a known length"),
    ],
)
def test_what_is_not_known_is_refused(f, x, kind, message):
    with pytest.raises(kind, match=message):
        rg.grad(f)(x.copy())


def test_where_the_count_is_known_the_loop_is_unrolled_instead():
    def changed(x):
        total = 0.0
        for i in range(n):
            twice = 2.0 * x[:i]
            x[0] = 7.0
            total = total + np.sum(twice)
        return total

    def corners(A):
        total = 0.0
        for i in range(n):
            total = total + np.sum(A[:i, :i] ** 2)
        return total

    def renamed(x):
        for i in range(4):
            part = x[:i]
            part += 1.0
        return np.sum(x * x)

    check(changed, b)
    check(corners, A)
    check(renamed, b)


def test_windows_at_other_places_are_read_first():
    check(overlapping, b, tolerance=1e-11)
    check(shifted, b, tolerance=1e-11)


def test_slices_of_other_views_are_read_first():
    def further(x):
        y = x[1:]
        for i in range(3):
            y[:i] = 2.0 * x[:i]
        return np.sum(x * x)

    def backwards(x):
        y = x[::-1]
        for i in range(4):
            y[:i] = 2.0 * x[:i]
        return np.sum(x * x)

    for function in (further, backwards):
        check(function, np.arange(1.0, 5.0))


def test_what_would_be_silently_wrong_is_refused():
    def renamed(x):
        for i in range(unknown(x)):
            part = x[:i]
            part += 1.0
        return np.sum(x * x)

    def truth(x):
        for i in range(unknown(x)):
            if x[:i] > 0.0:
                x = x * 2.0
        return np.sum(x)

    for function in (renamed, truth):
        with pytest.raises(rg.Unsupported, match="whose length is traced"):
            rg.grad(function)(np.arange(1.0, 5.0))


def test_comparisons_are_elementwise():
    def count(x):
        total = 0
        for i in range(5):
            total = total + np.sum(x[:i] == 2.0) + np.sum(x[:i] >= 1.0) - np.sum(x[:i] != 0.0)
        return total

    x = np.array([2.0, 0.0, 1.0, 2.0])
    assert rg.jit(count)(x) == count(x) and np.asarray(rg.jit(count)(x)).dtype == np.int64


def pooled(x):
    out = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return np.sum(np.sin(out))


def strided(x):
    total = 0.0
    for i in range(3):
        total = total + np.sum(x[3 * i : 3 * i + 2] ** 2) + x[-2 * i] * x[8 - 2 * i] + np.sum(x[10 - 3 * i : 12 - 3 * i] ** 3)
    return total


def test_a_multiple_of_a_loops_index_bounds_a_slice_of_known_length():
    x = np.random.default_rng(0).normal(size=(2, 4, 6, 3))
    for f, at in ((pooled, x), (strided, x.ravel()[:12])):
        np.testing.assert_allclose(rg.jit(f)(at), f(at), rtol=1e-14)
        rg.check_grads(f, (at,), order=2)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (1, 2), (0, 2), (-1, 0), (0, 1, 2), (1,)])
@pytest.mark.parametrize("function", [np.sum, np.mean, np.max, np.prod])
def test_reductions_of_a_slice_of_traced_length_along_any_axes(function, axis):
    x = np.random.default_rng(0).normal(size=(3, 4, 5))

    def f(x):
        total = 0.0
        for j in range(1, x.shape[1]):
            total = total + np.sum(np.cos(function(x[:, :j], axis=axis)))
        return total

    np.testing.assert_allclose(rg.jit(f)(x), f(x), rtol=1e-13)
    rg.check_grads(f, (x,), order=1)
