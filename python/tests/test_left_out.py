"""What `np.where` leaves out counts for nothing, wherever loops and branches stand between the mask and what it leaves out."""

import numpy as np
import pytest

import retrograd as rg

X = np.array([-1.0, 0.0, 2.0])


def in_every_step(x):
    s = np.zeros(3)
    for i in range(3):
        s = s + np.where(x > 0, np.sqrt(x), 0.0) * i
    return np.sum(s)


def in_a_nest(x):
    t = np.log(np.sqrt(x))
    s = 0.0
    for i in range(3):
        for j in range(2):
            s = s + np.sum(np.where(x > 0, t, 0.0)) * j
    return s


def in_a_while(x):
    s = x[2]
    while s < 20.0:
        s = s * 2.0 + np.sum(np.where(x > 0, np.log(x), 0.0))
    return s


def in_some_steps(x):
    s = 0.0
    for i in range(3):
        if i > 1:
            s = s + np.sum(np.where(x > 0, np.sqrt(x), 0.0))
        else:
            s = s + x[2]
    return s


def where_the_step_says(x):
    r = np.sqrt(x)
    s = 0.0
    for i in range(3):
        s = s + np.sum(np.where(x * (i + 1) > 0.5, r, 0.0))
    return s


def where_rows_say(x):
    r = np.sqrt(x)
    s = 0.0
    for row in np.array([[1.0, 0.0, 1.0], [0.0, -2.0, 3.0], [1.0, -1.0, 2.0]]):
        s = s + np.sum(np.where(row * x > 0.5, r, 0.0)) + np.sum(np.where(row > 1.5, r * x, 0.0))
    return s


def element_by_element(x):
    r = np.sqrt(x)
    s = np.zeros(3)
    for i in range(3):
        s[i] = np.where(x[i] > 0, r[i], 0.0)
    return np.sum(s)


def in_both_branches(x):
    r = np.sqrt(x)
    if np.sum(x) > 0:
        return np.sum(np.where(x > 0, np.log(r), 0.0))
    return np.sum(np.where(x > 0, r, x))


def twice(derivative, x):
    """Second derivatives in all combinations of modes."""
    return {
        "forward over reverse": rg.jacfwd(rg.grad(derivative))(x),
        "reverse over reverse": rg.jacrev(rg.grad(derivative))(x),
        "reverse over forward": rg.jacrev(rg.jacfwd(derivative))(x),
        "reverse over a Jacobian": rg.jacrev(rg.jacrev(derivative))(x),
        "forward over forward": rg.jacfwd(rg.jacfwd(derivative))(x),
    }


def in_windows_of_a_nest(x):
    r = np.log(x)
    s = 0.0
    for i in range(2):
        for j in range(3):
            s = s + np.where(x[j] > 0, r[j] * x[j], 0.0) * (i + 1)
    return s


def beside_a_state(x):
    r = np.sqrt(x)
    s, n = 0.0, 0.0
    for i in range(4):
        n = n + np.sum(np.where(x > 0, r, 0.0)) * x[2]
        s = s + np.where(x[i % 3] > 0.5, r[i % 3] * i, 0.0)
    return s * n


def after_a_loop(x):
    r = np.sqrt(x)
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * 2.0
    s = 0.0
    for i in range(3):
        s = s + np.where(x[i] > 0, r[i], 0.0) * np.sum(np.where(y > 1.0, r, 0.0))
    return s


# Where the NaN stays: what a step leaves out by an index and, before it, by a mask for all steps. What is mended must leave the list.
OPEN = {("after_a_loop", "reverse over reverse"), ("after_a_loop", "reverse over a Jacobian")}

FUNCTIONS = [
    in_every_step, in_a_nest, in_a_while, in_some_steps, where_the_step_says, where_rows_say, element_by_element, in_both_branches,
    in_windows_of_a_nest, beside_a_state, after_a_loop,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_loops_keep_what_is_left_out_from_poisoning(f):
    good = X[2:]

    def of_the_good(v):
        """The same function of the element that no mask leaves out, where the others stand still."""
        return f(np.array([-1.0, 0.0, v]))

    with np.errstate(all="ignore"):
        h = 1e-5
        expected = (of_the_good(good[0] + h) - of_the_good(good[0] - h)) / (2 * h)
    gradient = rg.grad(f)(X)
    np.testing.assert_allclose(gradient, [0.0, 0.0, expected], rtol=1e-8)
    np.testing.assert_allclose(rg.jvp(f, (X,), (np.ones(3),))[1], expected, rtol=1e-8)
    second = twice(f, X)
    first = second["forward over reverse"]
    assert np.isfinite(first).all() and not first[:2].any() and not first[:, :2].any()
    for name, found in second.items():
        if (f.__name__, name) in OPEN:
            assert np.isnan(found).any()
            continue
        np.testing.assert_allclose(found, first, rtol=1e-12, atol=1e-14, err_msg=name)
