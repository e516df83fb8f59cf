"""Numerical kernels as people write them: slices of traced length, masks, scatters and index arrays in loops. Values against NumPy, gradients to finite differences."""

import numpy as np
import pytest
from oracle import close, collector, copies

import retrograd as rg

rng = np.random.default_rng(21)
line, wide, square, tall = 0.1 * rng.normal(size=7), rng.normal(size=(4, 6)), rng.normal(size=(5, 5)), rng.normal(size=(7, 4))
CASES, kernel = collector()


@kernel(line)
def levinson(r):
    y = np.zeros_like(r)
    y[0], a, b = -r[0], -r[0], 1.0
    for k in range(1, len(r)):
        b = b * (1.0 - a * a)
        a = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / b
        y[:k] += a * np.flip(y[:k])
        y[k] = a
    return y


@kernel(line)
def levinson_by_a_reversed_slice(r):
    y = np.zeros_like(r)
    y[0], a = -r[0], -r[0]
    for k in range(1, len(r)):
        a = -(r[k] + np.sum(r[:k][::-1] * y[:k]))
        old = y[:k].copy()
        y[:k] = old + a * old[::-1]
        y[k] = a
    return y


@kernel(2, 6, rng.normal(size=(6, 6)))
def sweeps(steps, n, u):
    p, q, v = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        v[0, 1 : n - 1] = 1.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = 0.2 / (1.4 - 0.2 * p[1 : n - 1, j - 1])
            q[1 : n - 1, j] = (0.3 * u[j, : n - 2] + 0.4 * u[j, 1 : n - 1] + 0.3 * u[j, 2:n] + 0.2 * q[1 : n - 1, j - 1]) / (1.4 - 0.2 * p[1 : n - 1, j - 1])
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]
        u[1 : n - 1, 1 : n - 1] = v[1 : n - 1, 1 : n - 1]
    return u


@kernel(4, tall)
def products_of_columns(m, data):
    found = np.eye(m)
    for i in range(m - 1):
        found[i + 1 : m, i] = found[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    return found


@kernel(square)
def elimination_with_pivoting(a):
    n = len(a)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        a[[k, p]] = a[[p, k]]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


@kernel(wide, square[:4, :4].copy())
def triangle_of_a_product(a, c):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 1.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += 0.7 * a[i, k] * a[: i + 1, k]
    return c


@kernel(np.array([0.9, -0.5, 0.7, 1.3, -0.8, 0.3]))
def reductions_of_slices(x):
    total = 0.0
    for k in range(1, len(x)):
        head = x[:k]
        total = total + np.max(head) + np.mean(x[k:]) + np.linalg.norm(head) + np.sum(np.where(head > 0, head**2, 3.0 * head**2)) + np.min(2 * x[k:]) + np.prod(1.0 + head)
        x[1 : k + 1] = x[:k] * 0.9
    return total + x


@kernel(square, line[:5].copy())
def rows_up_to(a, w):
    total = 0.0
    for k in range(1, len(a)):
        total = total + np.sum(a[:k] @ w) + np.sum(a[:k, 0] @ a[:k]) + np.sum(np.sum(a[:k], axis=0) ** 2)
    return total


@kernel(rng.normal(size=9), rng.normal(size=5), np.array([0, 2, 5, 5, 9]), np.array([0, 3, 1, 2, 4, 0, 1, 3, 4]))
def sparse_product(values, x, starts, columns):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        y[i] = values[starts[i] : starts[i + 1]] @ x[columns[starts[i] : starts[i + 1]]]
    return y


@kernel(rng.normal(size=30), rng.uniform(0.01, 1.0, size=30))
def means_by_radius(data, radius):
    found = np.zeros(4)
    for k in range(4):
        inside = np.logical_and(radius >= 0.25 * k, radius < 0.25 * (k + 1))
        found[k] = data[inside].mean()
    return found


@kernel(rng.normal(size=(5, 3)))
def forces_where_apart(x):
    away = x[:, None] - x
    square = np.sum(away**2, axis=-1)
    square[square > 0] = square[square > 0] ** -1.5
    return np.sum(away * square[:, :, None], axis=1)


@kernel(rng.normal(size=(4, 6)), np.array([0, 5, 2, 2]))
def cross_entropy(scores, labels):
    top = scores - np.max(scores, axis=1, keepdims=True)
    logs = top - np.log(np.sum(np.exp(top), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(len(labels)), labels])


@kernel(rng.normal(size=6), np.array([0, 1, 1, 2, 3, 0]), np.array([1, 2, 3, 3, 0, 2]))
def messages_on_a_graph(w, sources, targets):
    state, weights = np.ones(4), np.zeros((4, 4))
    weights[sources, targets] = w
    for _ in range(3):
        received = np.zeros(4)
        np.add.at(received, targets, w * state[sources])
        state = np.tanh(received + weights.sum(axis=0))
    return state


@kernel(rng.normal(size=(6, 2)))
def lower_triangle(x):
    rows, columns = np.tril_indices(3)
    factor = np.zeros((2, 3, 3))
    factor[:, rows, columns] = x.T
    return factor @ np.swapaxes(factor, 1, 2)


@kernel(rng.uniform(-1, 1, size=20), rng.normal(size=20))
def weighted_histogram(x, w):
    counts, edges = np.histogram(x, bins=5, range=(-1.0, 1.0), weights=w)
    return counts * np.diff(edges)


@kernel(rng.normal(size=(6, 6)))
def shortest_paths(d):
    for k in range(d.shape[0]):
        d[:] = np.minimum(d[:], np.add.outer(d[:, k], d[k, :]))
    return d


@pytest.mark.parametrize("f, args", CASES)
def test_kernels(f, args):
    floats = [k for k, arg in enumerate(args) if np.asarray(arg).dtype == np.float64]
    close(rg.jit(f)(*copies(args)), f(*copies(args)), 1e-11)

    def g(*values):
        rest = list(args)
        for k, value in zip(floats, values):
            rest[k] = value
        return f(*rest)

    rg.check_grads(g, tuple(args[k] for k in floats), order=1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[x > 0],
        lambda x: np.concatenate([x[x > 0], x]),
        lambda x: x[x > 0] + x[x > 1],
        lambda x: x[x > 0].reshape(2, -1),
    ],
)
def test_what_needs_the_length_of_a_mask_is_refused_in_derivatives(f):
    with pytest.raises(rg.Unsupported, match="mask"):
        rg.jacrev(f)(line)


@pytest.mark.parametrize("f", [lambda x: np.sum(len(x[x > 0]) * x), lambda x: np.sort(x[x > 0])[0]])
def test_the_length_of_a_mask_that_is_a_number_is_differentiated(f):
    assert np.isclose(rg.jit(f)(line), f(line), rtol=1e-12)
    rg.check_grads(f, (line,), order=1)


def test_a_mask_of_what_is_not_differentiated_is_known_where_its_length_is_needed():
    f = lambda x: np.concatenate([np.sort(x[x > 0]), x])
    assert np.array_equal(rg.jit(f)(line), f(line))


def test_the_largest_of_nothing_is_numpys_error():
    with pytest.raises(ValueError, match="zero-size array"):
        rg.jit(lambda x: np.max(x[x > 100.0]))(line)
    assert np.isnan(rg.jit(lambda x: np.mean(x[x > 100.0]))(line))


def test_elements_that_a_mask_leaves_out_poison_nothing():
    x = np.array([-1.0, 0.0, 2.0, np.nan, np.inf])

    def f(x, c):
        kept = np.logical_and(x > 0.0, x < 3.0)
        return np.sum(np.log(x[kept]) / c + c / x[kept] + np.sqrt(x[kept] - 1.0))

    gradient = rg.grad(f, argnums=(0, 1))(x, 0.5)
    np.testing.assert_allclose(gradient[0], [0.0, 0.0, 1.0 - 0.125 + 0.5, 0.0, 0.0])
    np.testing.assert_allclose(gradient[1], -np.log(2.0) / 0.25 + 0.5)
    empty = rg.grad(lambda x, c: np.sum(x[x > 9.0] / c), argnums=1)(np.zeros(3), 0.0)
    assert empty == 0.0


# A masked value is one array, whatever its names: an operator in place is seen by all of them, a copy does not see it.


def by_two_names(x):
    v = x[x > 0]
    w = v
    v += 1.0
    return w.sum()


def by_a_view(x):
    v = x[x > 0]
    w, u = v[...], v.T
    v *= 2.0
    return w.sum() + u.max()


def of_a_copy(x):
    v = x[x > 0]
    w = v.copy()
    v -= 1.0
    return w.sum() * v.sum()


def in_a_dict(x):
    d = {"v": x[x > 0]}
    w = d["v"]
    d["v"] /= 2.0
    return w.sum()


def by_a_function(x):
    def raise_all(v):
        v += 1.0

    v = x[x > 0]
    raise_all(v)
    return v.sum()


def in_a_loop(x):
    v = x[x > 0]
    w = v
    for _ in range(3):
        v *= 1.1
    return w.sum()


def of_what_it_was_taken_from(x):
    m = x > 0
    v = x[m]
    x[0], m[1] = 100.0, False
    return v.sum()


@pytest.mark.parametrize("f", [by_two_names, by_a_view, of_a_copy, in_a_dict, by_a_function, in_a_loop, of_what_it_was_taken_from])
def test_changes_of_masked_values_are_numpys(f):
    x = np.array([0.5, -1.0, 2.0, 3.0, -0.2])
    value, gradient = rg.value_and_grad(f)(x.copy())
    np.testing.assert_allclose(value, f(x.copy()), rtol=1e-14)
    differences = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(gradient, differences, atol=1e-8)


def test_a_change_of_a_masked_value_under_a_traced_condition_is_seen():
    def f(x):
        v = x[x > 0]
        if x[0] > 0:
            v *= 1.1
        return v.sum()

    for x in (np.array([0.5, -1.0, 2.0]), np.array([-0.5, 1.0, 2.0])):
        value, gradient = rg.value_and_grad(f)(x)
        assert value == f(x)
        assert np.allclose(gradient, np.where(x > 0, 1.1 if x[0] > 0 else 1.0, 0.0))
