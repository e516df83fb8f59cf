"""Arrays that are one of several by a traced condition, and change in place: what is written is written into the one that it is."""

import numpy as np
import pytest
from oracle import check_by_differences

import retrograd as rg

X = np.array([0.7, -1.3, 2.1, 0.4])


def two_names_become_one_in_a_loop(x):
    a = x * 1.0
    b = x * 2.0
    for i in range(5):
        a[0] += 1.0
        b[1] += a[0]
        if x[0] > 0:
            a = b
    return np.sum(a * a) + np.sum(b * x)


def one_of_two_changes(x):
    a, b = x * 1.0, x * 2.0
    y = a if x[0] > 0 else b
    y[0] = 5.0
    y += 1.0
    return np.sum(y * x) + 2 * np.sum(a * a) + 3 * np.sum(b * x * x)


def the_other_of_two_changes(x):
    a, b = x * 1.0, x * 2.0
    y = a if x[0] < 0 else b
    y[0] = 5.0
    y += x[1]
    return np.sum(y * x) + 2 * np.sum(a * a) + 3 * np.sum(b * x * x)


def those_that_it_may_be_change(x):
    a, b = x * 1.0, x * 2.0
    y = a if x[0] > 0 else b
    a[1] = 7.0
    b *= 3.0
    y[2] += 1.0
    a[3] *= y[2]
    return np.sum(y * x) + 2 * np.sum(a * a) + 3 * np.sum(b * x * x)


def bound_by_an_if(x):
    a, b = x * 1.0, x * 2.0
    if x[1] > 0:
        y = a
    else:
        y = b
    y[0] = 5.0
    return np.sum(y * x) + 2 * np.sum(a * a) + 3 * np.sum(b * x * x)


def one_of_three(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    if x[1] > 0:
        y = a
    elif x[0] > 0:
        y = b
    else:
        y = c
    y[0] = 5.0
    b[1] = y[0] * x[2]
    return np.sum(y * x) + 2 * np.sum(a * a) + 3 * np.sum(b * x * x) + np.sum(c * c)


def perhaps_a_new_array(x):
    a = x * 1.0
    y = a if x[0] > 0 else x * 2.0
    y[0] = 5.0
    return np.sum(y * x) + 2 * np.sum(a * a)


def a_new_array(x):
    a = x * 1.0
    y = a if x[0] < 0 else x * 2.0
    y[0] = 5.0
    return np.sum(y * x) + 2 * np.sum(a * a)


def one_of_two_rows(x):
    m = np.outer(x, x)
    row = m[0] if x[0] > 0 else m[1]
    row[2] = 4.0
    row += x
    m[1, 3] += row[0]
    return np.sum(m * m) + np.sum(row * x)


def a_row_or_a_column(x):
    m = np.outer(x, x)
    row = m[0] if x[0] < 0 else m[:, 1]
    row[2] = 4.0
    row += x
    m[1, 1] += row[0]
    return np.sum(m * m * np.arange(16.0).reshape(4, 4)) + np.sum(row * x)


def two_names_of_overlapping_choices(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    u = a if x[0] > 0 else b
    w = a if x[2] > 0 else c
    u[0] = 5.0
    w[1] = u[0] * x[3]
    a[2] = w[1]
    return np.sum(u * x) + np.sum(w * w) + np.sum(a * x) + np.sum(b) + np.sum(c * c)


def choices_of_choices(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    u = a if x[0] > 0 else b
    w = u if x[1] > 0 else c
    z = u if x[2] > 0 else w
    z[0] = 5.0
    u[1] += z[0]
    w[2] *= u[1]
    return np.sum(u * x) + np.sum(w * w) + np.sum(a * x) + np.sum(b) + np.sum(c * c) + np.sum(z * x * x)


def swapped_perhaps(x):
    a, b = x * 1.0, x * 2.0
    if x[0] > 0:
        a, b = b, a
    a[0] += 1.0
    b[1] *= a[0]
    return np.sum(a * x) + np.sum(b * b)


def swapped_in_a_loop(x):
    a, b = x * 1.0, x * 2.0
    for i in range(6):
        if x[i % 4] > 0:
            a, b = b, a
        a[i % 4] += 1.0
        b[(i + 1) % 4] *= a[0]
    return np.sum(a * x) + np.sum(b * b)


def the_best_so_far(x):
    best, value = x * 1.0, np.sum(x)
    for i in range(6):
        cand = best * 0.9 + 0.1 * x[i % 4]
        v = np.sum(cand * cand)
        if v < 20 - i:
            best = cand
        best[i % 4] += 0.1
    return np.sum(best * x)


def the_best_row(x):
    pop = np.outer(x, x)
    best = pop[0]
    for i in range(4):
        best = pop[i] if np.sum(pop[i]) > np.sum(best) else best
        best[1] += 0.5
    return np.sum(best * x) + np.sum(pop * pop)


def changed_by_a_function(x):
    def bump(v, k):
        v[k] += x[k]
    a, b = x * 1.0, x * 2.0
    y = a if x[0] > 0 else b
    for k in range(4):
        bump(y, k)
    return np.sum(a * a) + np.sum(b * x)


def changed_in_a_long_loop(x):
    a, b = x * 1.0, x * 2.0
    y = a if x[0] > 0 else b
    for k in range(300):
        y[k % 4] += 0.01 * x[k % 4]
        a[0] *= 0.999
    return np.sum(a * a) + np.sum(b * x) + np.sum(y)


def changed_on_one_side(x):
    a, b = x * 1.0, x * 2.0
    y = a if x[0] > 0 else b
    if x[1] < 0:
        y[0] = x[2]
    else:
        a[1] = 3.0
    return np.sum(a * a) + np.sum(b * x) + np.sum(y)


def arrays_of_known_elements(x):
    a, b = np.zeros(4), np.ones(4)
    y = a if x[0] > 0 else b
    a[0] = 3.0
    y[1] = x[1]
    b[2] = 9.0
    return np.sum(a * x) + np.sum(b * x) + np.sum(y * x)


def perhaps_the_argument(x):
    y = x if x[0] > 0 else x * 2.0
    y[0] = 5.0 * x[1]
    return np.sum(y * x)


def items_of_a_list(x):
    rows = [x * 1.0, x * 2.0]
    y = rows[0] if x[0] > 0 else rows[1]
    y[0] = 5.0
    rows[1][1] = 3.0
    return np.sum(rows[0] * x) + np.sum(rows[1] * rows[1]) + np.sum(y)


def attributes_of_objects(x):
    class P:
        def __init__(self, p):
            self.pos = p
    p, q = P(x * 1.0), P(x * 2.0)
    pos = p.pos if x[0] > 0 else q.pos
    pos += 1.0
    return np.sum(p.pos * x) + np.sum(q.pos * q.pos)


def a_view_of_it(x):
    a, b = np.outer(x, x), np.outer(x, x + 1)
    y = a if x[0] > 0 else b
    r = y[1]
    r[0] = 3.0
    y[2] += r
    a[1, 1] = 2.0
    return np.sum(a * a) + np.sum(b * b) + np.sum(r) + np.sum(y)


def a_view_of_one_of_them(x):
    a, b = np.outer(x, x), np.outer(x, x + 1)
    r = a[1]
    y = a if x[0] > 0 else b
    y[1, 0] = 3.0
    r[1] = y[1, 0]
    return np.sum(a * a) + np.sum(b * b) + np.sum(r) + np.sum(y)


def written_by_out(x):
    a, b = x * 1.0, x * 2.0
    y = a if x[0] > 0 else b
    np.multiply(x, 3.0, out=y)
    np.add.at(y, [0, 0, 1], 1.0)
    return np.sum(a * a) + np.sum(b * x)


def returned_early(x):
    def pick(a, b):
        if x[0] > 0:
            return a
        return b
    a, b = x * 1.0, x * 2.0
    y = pick(a, b)
    y[0] = 9.0
    return np.sum(a * x) + np.sum(b * b)


def nested_conditions(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    if x[0] > 0:
        y = a if x[1] > 0 else b
        y[0] = 1.0
    else:
        y = c
    y[1] = 2.0
    return np.sum(a * x) + np.sum(b * b) + np.sum(c) + np.sum(y * y)


def swapped_in_a_while(x):
    a, b = x * 1.0, x * 2.0
    k = 0
    while np.sum(a) < 30.0 and k < 50:
        if a[0] > b[0]:
            a, b = b, a
        a += 0.5
        b[0] += 0.7
        k += 1
    return np.sum(a * x) + np.sum(b * b)


def indices(x):
    i, j = np.arange(4), np.arange(4)[::-1].copy()
    k = i if x[0] > 0 else j
    k[0] = 2
    return x[k] @ x + x[i] @ x * 2 + x[j] @ x * 3


def bound_in_a_short_loop(x):
    a, b = x * 1.0, x * 2.0
    y = a
    for i in range(3):
        if x[i] > 0:
            y = b
        else:
            y = a
    y[0] = 5.0
    return np.sum(a) * x[0] + np.sum(b * b) + np.sum(y)


def the_last_that_is_small(x):
    arrs = [x * 1.0, x * 2.0, x * 3.0]
    w = arrs[0]
    for c in arrs[1:]:
        w = c if np.sum(c) < 5.0 else w
    w[0] = 9.0
    return sum(np.sum(c * c) for c in arrs)


CASES = [
    two_names_become_one_in_a_loop, one_of_two_changes, the_other_of_two_changes, those_that_it_may_be_change, bound_by_an_if, one_of_three,
    perhaps_a_new_array, a_new_array, one_of_two_rows, a_row_or_a_column, two_names_of_overlapping_choices, choices_of_choices, swapped_perhaps,
    swapped_in_a_loop, the_best_so_far, the_best_row, changed_by_a_function, changed_in_a_long_loop, changed_on_one_side, arrays_of_known_elements,
    perhaps_the_argument, items_of_a_list, attributes_of_objects, a_view_of_it, a_view_of_one_of_them, written_by_out, returned_early,
    nested_conditions, swapped_in_a_while, indices, bound_in_a_short_loop, the_last_that_is_small,
]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_value_and_gradient(f):
    check_by_differences(f, X)


def one_of_two(v, p):
    w = v * 2.0
    u = v if p > 0 else w
    u[0] = 1.0
    return w


@pytest.mark.parametrize("p", (1.0, -1.0))
def test_the_caller_sees_what_is_written_into_an_argument(p):
    found, expected = X.copy(), X.copy()
    np.testing.assert_array_equal(rg.jit(one_of_two)(found, p), one_of_two(expected, p))
    np.testing.assert_array_equal(found, expected)


FOREIGN = np.ones(4)


def test_an_array_from_outside_is_not_changed():
    def f(x):
        y = FOREIGN if x[0] > 0 else x * 2.0
        y[1] = 5.0
        return np.sum(y * x)

    with pytest.raises(rg.Unsupported, match="which is not local"):
        rg.grad(f)(X)
    assert FOREIGN[1] == 1.0


def test_what_is_one_of_some_arrays_after_a_long_loop_is_refused():
    def f(x):
        first = x * 1.0
        best = first
        for i in range(300):
            cand = best * 0.9
            best = cand if np.sum(cand) < 1.0 - i else best
            best[0] += 0.1
        return np.sum(best) + np.sum(first * first)

    with pytest.raises(rg.Unsupported, match="copy it before the loop"):
        rg.jit(f)(X)
