"""Arguments that are not differentiated are known where Python needs their values; elsewhere they stay what they are, and nothing is compiled again."""

import warnings

import numpy as np
import pytest

import retrograd as rg

x = np.array([0.5, -1.5, 2.5, 1.0])


def sorted_pairs(x, pairs):
    total = 0.0
    for t, w in sorted(pairs):
        total = w * np.sum(x) + 0.5 * total * t
    return total


def shape_by_a_branch(x, knots):
    y = 0.0
    if knots[1] > knots[0]:
        y = x * knots[1]
    return np.sum(y + 1.0)


def in_a_string(x, scale):
    return np.sum(x) * len(f"{scale:.1f}")


def list_by_an_element(x, order):
    parts = [x[0], x[1] ** 2, x[2] * x[3]]
    return sum(parts[k] * (j + 1) for j, k in enumerate(order))


def queue(x, times):
    waiting = sorted(times)
    t, total = 0.0, 0.0
    while t < 1.0:
        while waiting and waiting[0] <= t:
            total = total + waiting.pop(0) * np.sum(x**2)
        total = 1.1 * total
        t += 0.25
    return total


def without(x, fixed):
    free = np.setdiff1d(np.arange(len(x)), fixed)
    return np.sum(x[free] ** 2)


def labelled(x, labels):
    return sum(np.sum(x[labels == k]) ** 2 * (j + 1) for j, k in enumerate(np.unique(labels)))


CASES = [
    (without, [([0, 2],), ([1, 3],)]),
    (labelled, [(np.array([0, 5, 0, 5]),), (np.array([1, 2, 3, 1]),)]),
    (sorted_pairs, [([(2.0, 0.5), (1.0, 0.25)],), ([(0.0, 0.5), (1.0, 0.25)],)]),
    (shape_by_a_branch, [(np.array([0.0, 1.0]),), (np.array([1.0, 0.0]),)]),
    (in_a_string, [(0.5,), (100.0,)]),
    (list_by_an_element, [(np.array([0, 2, 1]),), (np.array([1, 1, 0]),)]),
    (queue, [([0.3, 0.1, 0.9],), ([0.0, 0.8, 2.0],)]),
]


@pytest.mark.parametrize("f, others", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_values_decide(f, others):
    g = rg.value_and_grad(f)
    for rest in [*others, *others]:
        value, gradient = g(x, *rest)
        np.testing.assert_allclose(value, f(x, *rest), rtol=1e-14)
        for k, d in enumerate(np.eye(4)):
            np.testing.assert_allclose(gradient[k], (f(x + 1e-6 * d, *rest) - f(x - 1e-6 * d, *rest)) / 2e-6, rtol=1e-6, atol=1e-8)


def test_what_is_differentiated_is_not_known():
    with pytest.raises(rg.Unsupported, match="in a string"):
        rg.grad(in_a_string, argnums=(0, 1))(x, 0.5)
    with pytest.raises(rg.ShapeError, match="differs in shape"):
        rg.grad(shape_by_a_branch, argnums=(0, 1))(x, np.array([0.0, 1.0]))


def test_what_nobody_needs_to_know_is_compiled_once():
    def f(x, data, power, scale):
        y = np.where(data > 0, x, 0.5 * x)
        if scale > 1.0:
            y = y * scale
        return np.sum(y**power)

    g = rg.grad(f)
    before = rg.cache_info().misses
    for k in range(5):
        g(x, np.full(4, k - 2.0), 2.5 + k, 0.5 * k)
    assert rg.cache_info().misses - before == 1


def test_many_values_warn_once():
    g = rg.grad(in_a_string)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for k in range(70):
            g(x, 1.0 + k)
    assert len([item for item in found if "more than 64 values" in str(item.message)]) == 1


def test_what_is_known_is_saved_with_it(tmp_path):
    compiled = rg.value_and_grad(shape_by_a_branch).compile(x, np.array([0.0, 1.0]))
    compiled.save(tmp_path / "f.rgx")
    loaded = rg.load(tmp_path / "f.rgx")
    assert loaded(x, np.array([0.0, 1.0]))[0] == shape_by_a_branch(x, np.array([0.0, 1.0]))
    with pytest.raises(rg.ArgumentError, match="compiled for an array"):
        loaded(x, np.array([1.0, 0.0]))


def pivoted(x):
    order, weights = [0, 1, 2, 3], [0.5, 1.5, 2.5, 3.5]
    p = np.argmax(np.abs(x))
    order[1], order[p] = order[p], order[1]
    weights[p] = weights[p] * x[0]
    weights[-1] += 1.0
    M = np.outer(x, x)
    M[[0, p]] = M[[p, 0]]
    return np.sum(x[order] * np.array(weights)) + (1.0, 10.0, 100.0, 1000.0)[p] * x[1] + weights[p - 4] + M[0] @ np.arange(4.0)


@pytest.mark.parametrize("at", range(4))
def test_lists_of_numbers_at_traced_places(at):
    y = x.copy()
    y[at] = 4.5
    value, gradient = rg.value_and_grad(pivoted)(y)
    np.testing.assert_allclose(value, pivoted(y), rtol=1e-14)
    for k, d in enumerate(np.eye(4)):
        np.testing.assert_allclose(gradient[k], (pivoted(y + 1e-6 * d) - pivoted(y - 1e-6 * d)) / 2e-6, rtol=1e-6, atol=1e-8)


def test_a_place_beyond_a_list_ends_the_run():
    def f(x):
        parts = [1.0, 2.0]
        parts[int(x[0])] = 3.0
        return x[1] * sum(parts)

    assert rg.grad(f)(np.array([1.0, 2.0]))[1] == 4.0
    with pytest.raises(IndexError):
        rg.grad(f)(np.array([2.0, 2.0]))


def test_functions_that_are_refused_are_so_where_nothing_is_differentiated():
    with pytest.raises(rg.Unsupported, match="unique"):
        rg.jit(lambda x: np.sum(np.unique(x)))(x)
    assert rg.jit(lambda x, k: np.sum(x) * len(np.unique(k)))(x, np.array([1, 1, 2])) == 2 * np.sum(x)
