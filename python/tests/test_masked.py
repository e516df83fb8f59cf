"""Masked values `x[m]` with a traced mask: they change in place for all of their names, have a first, a last and a number of elements, and are looped over."""

import numpy as np
import pytest
from oracle import check_by_differences

import retrograd as rg

x = np.array([0.5, -0.2, 0.9, 1.3, -1.0, 2.0])


def alias(x):
    u = x[x > 0.1]
    v = u
    v += 1.0
    return np.sum(u * u) + np.sum(x)


def in_a_loop(x):
    k = x > 0.0
    u, w = x[k], x[k] * 2.0
    for i in range(3):
        u += w * i
        w = u * 0.5
    return np.sum(u * 3.0 + w)


def in_a_branch(x):
    k = x > 0.0
    u = x[k]
    w = u
    if x[0] > 0.2:
        w *= 2.0
    else:
        w = u + 1.0
    return np.sum(u * w)


def into_out(x):
    k = x > 0.0
    u, w = x[k], x[k]
    np.add(u, 1.0, out=w)
    np.multiply(u, w, out=u)
    np.copyto(w, u * 0.5)
    u[...] = w * 2.0 + u
    w.fill(0.25)
    return np.sum(u * w)


def chosen_among_chosen(x):
    u = x[x > 0.0]
    u[u > 1.0] = 1.0
    u[0] = 0.25
    u[1:] += 0.5
    u[-1] *= 3.0
    return np.sum(u) + np.sum(u[u > 1.0] ** 2)


def held_by_a_list_and_an_object(x):
    class Box:
        pass

    box, k = Box(), x > 0.0
    box.v = x[k]
    held = [box.v, x[k] * 2.0]
    held[0] += held[1]
    box.v *= 2.0
    return np.sum(box.v) + np.sum(held[0] * held[1])


def first_last_and_count(x):
    places = np.nonzero(x > 0.0)[0]
    u = x[x > 0.0]
    last = np.flatnonzero(x > 0.0)[-1]
    return x[places[0]] * 2.0 + x[last] * x[0] + len(u) * u[1] + u.shape[0] + u.size + np.argwhere(x > 0.0)[1][0] * x[1]


def looped(x):
    total = 0.0
    for i in np.nonzero(x > 0.0)[0]:
        total += x[i] * i
    for i, v in enumerate(x[x < 1.0]):
        total += v * v * i
    for v, i in zip(x[x > 0.0], np.flatnonzero(x > 0.0)):
        total = total + v * i
    return total


def sorted_and_differences(x):
    u = x[x > 0.0]
    return np.sum(np.diff(u) ** 2) + np.sort(u)[1] * 3.0 + np.sort(u)[-1]


def cells(x):
    m, total = np.outer(x, x), 0.0
    for (i, j), v in np.ndenumerate(m):
        total += v * i * j
    for i, j in np.ndindex(2, 3):
        total += m[i, j] * j
    return total


CASES = [alias, in_a_loop, in_a_branch, into_out, chosen_among_chosen, held_by_a_list_and_an_object, first_last_and_count, looped, sorted_and_differences, cells]


@pytest.mark.parametrize("f", CASES)
def test_value_and_gradient(f):
    check_by_differences(f, x)


@pytest.mark.parametrize("index", [3, -4])
def test_an_element_that_is_not_there_is_an_error(index):
    with pytest.raises(IndexError):
        rg.grad(lambda x: x[x > 0.8][index])(x)


def test_a_mask_that_changes_in_a_loop_is_another_one():
    def f(x):
        k = x > 0.0
        u, total = x[k] * 2.0, 0.0
        for i in range(3):
            total += np.sum(x[k]) * (i + 1)
            k = np.roll(k, 1)
        return total + np.sum(u * x[x > 0.0])

    np.testing.assert_allclose(rg.jit(f)(x.copy()), f(x.copy()), rtol=1e-12)
