"""Views and aliases: the value must be NumPy's own, or an error; never silently another."""

import numpy as np
import pytest
from oracle import check_value

import retrograd as rg

rng = np.random.default_rng(4)
A = rng.normal(size=(3, 4))
v = rng.normal(size=6)


def write_through_row(a):
    row = a[0]
    row[:] = 1.0
    row[1] = a[1, 1]
    return a, row


def read_through(a):
    row = a[1]
    before = row[0] + 0.0
    a[1, 0] = 5.0
    return row, before, a


def one_number_repeated(a):
    b = np.full((3, 4), 2)
    c, row = np.full_like(a, 0.5), b[1]
    flat = c.reshape(-1)
    row[2], flat[5] = 7, 1.5
    d = np.ones_like(a).T
    d[0, 1] = 3.0
    return a * b, row, c + a, flat, d, np.zeros((1, 3)) + d[0], np.full((), 4.0) * a


def view_of_view(a):
    b = a[1:, ::2]
    c = b[0]
    c += 10.0
    b[1] *= 2.0
    return a, b, c


def transposed(a):
    t = a.T
    t[0] = 3.0
    t[1, 1:] += a[0, 0]
    return a, t


def reshaped(v):
    m = v.reshape(2, 3)
    m[0] = v[3:]
    v[0] = -1.0
    return v, m, m.reshape(-1)


def reshape_copies(a):
    b = a[:, :2].reshape(-1)
    b[0] = 9.0
    return a, b


def same_array_under_two_names(v):
    w = v
    w += 1.0
    w[0] = 5.0
    return v, w


def copy_is_apart(v):
    w = v.copy()
    w[0] = 5.0
    u = np.copy(v)
    u *= 2.0
    z = np.array(v)
    z[1] = 0.0
    return v, w, u, z


def scalar_is_rebound(v):
    s = v[0]
    s += 1.0
    t = s
    t *= 2
    return v, s, t


def in_place_through_function(v):
    scale(v[2:])
    for i in range(3):
        scale(v)
        bump(v, i)
    return v


def scale(w):
    w *= 2.0


def bump(w, k):
    w[k] += 1.0


def alias_in_loop(v):
    w = v
    for i in range(4):
        w[i] += v[i + 1]
    return v, w


def view_changed_in_loop(a):
    row = a[1]
    for i in range(4):
        row[i] = a[0, i] * 2.0
        a[2, i] = row[i] + 1.0
    return a, row


def augmented_in_loop(v):
    w = v
    for i in range(3):
        v += 0.5 * v
    return v, w


def flipped_signs(v):
    t = v[::2]
    t[...] = -t
    return v


def broadcast_view(v):
    b = np.broadcast_to(v, (2, 6))
    v[0] = 4.0
    return b + 0.0


def overlapping(v):
    v[1:] = v[:-1]
    v[:-1] += v[1:]
    return v


def local_then_loop(v):
    b = np.zeros(6)
    c = b[1:3]
    b[0] = 1.0
    for i in range(2):
        c[i] = v[i]
        b[3 + i] = c[i] + b[0]
    return b, c


def tuple_state(v):
    state = (v, 0.0)
    for i in range(3):
        state = (state[0] * 2.0, state[1] + state[0][i])
    return state


def augmented_index_evaluated_once(v):
    calls = []

    def where():
        calls.append(1)
        return 2

    v[where()] += 1.0
    return v, len(calls)


def expand_and_squeeze(v):
    w = np.expand_dims(v, 0)
    w[0, 1] = 8.0
    np.squeeze(w)[2] = 9.0
    v[None, 3:4][0] = 1.0
    return v, w


def same_after_loop(v):
    w = v * 1.0
    for i in range(3):
        v = v * 2.0
        w = v
    v += 1.0
    return v, w


def rebound_then_changed(v):
    for i in range(3):
        v = v * 2.0
    v[0] = 1.0
    return v


def changed_reshape(a):
    b = (a.T + 1.0).reshape(-1)
    b[0] = 3.0
    return b


def reshape_of_a_transposed_sum(a):
    c = a.T + 1.0
    b = c.reshape(-1)
    b[0] = 3.0
    return c


CASES = [
    (same_after_loop, v), (rebound_then_changed, v), (changed_reshape, A), (reshape_of_a_transposed_sum, A), (one_number_repeated, A),
    (write_through_row, A), (read_through, A), (view_of_view, A), (transposed, A), (reshaped, v), (reshape_copies, A),
    (same_array_under_two_names, v), (copy_is_apart, v), (scalar_is_rebound, v), (in_place_through_function, v), (alias_in_loop, v),
    (view_changed_in_loop, A), (augmented_in_loop, v), (flipped_signs, v), (broadcast_view, v), (overlapping, v), (local_then_loop, v),
    (tuple_state, v), (augmented_index_evaluated_once, v), (expand_and_squeeze, v),
]


@pytest.mark.parametrize("f, x", [pytest.param(f, x, id=f.__name__) for f, x in CASES])
def test_value_is_numpys(f, x):
    check_value(f, x)


def shared_and_rebound(v):
    w = v
    for i in range(3):
        v[0] += 1.0
        w = w * 2.0
    return v, w


def stale_view(a):
    row = a[0]
    s = 0.0
    for i in range(3):
        a[i] += 1.0
        s += row[0]
        row = a[i]
    return s, a


def kept_before_exchange(u):
    first = u
    new = np.zeros_like(u)
    for k in range(3):
        new[1:] = u[:-1]
        u, new = new, u
    return first


def exchanged_without_changes(v):
    w = v * 0.5
    y, first = w, w
    for k in range(2):
        v, y = y, v
    y[0] += 1.0
    return first


def perhaps_the_same(v, n):
    w = v
    for i in range(n):
        w = w * 2.0
    w[0] = 1.0
    return w, v


def perhaps_a_view(a, n):
    row = a[0] * 1.0
    for i in range(n):
        for j in range(2):
            row = a[i]
    a[0] = 1.0
    return row


@pytest.mark.parametrize("f, args", [(perhaps_the_same, (v, 0)), (perhaps_a_view, (A, 1))])
def test_what_cannot_be_followed_is_refused(f, args):
    with pytest.raises(rg.Unsupported):
        rg.jit(f)(*args)


@pytest.mark.parametrize("f, x", [(shared_and_rebound, v), (stale_view, A), (kept_before_exchange, v), (exchanged_without_changes, v)])
def test_a_loop_whose_names_share_arrays_is_unrolled(f, x):
    check_value(f, x)
    assert "unrolled: nothing" not in str(rg.jit(f).plan(x.copy()))


def test_a_long_loop_whose_names_share_arrays_is_refused():
    def long(v):
        w = v
        for i in range(1000):
            v[0] += 1.0
            w = w * 0.5
        return v, w

    with pytest.raises(rg.Unsupported, match="is rebound in the loop while its array is changed in place"):
        rg.jit(long)(v.copy())


def test_arguments_are_not_changed():
    def f(x):
        x[0] = 100.0
        return np.sum(x)

    x = v.copy()
    rg.value_and_grad(f)(x)
    np.testing.assert_array_equal(x, v)


def test_arrays_of_outer_scopes_are_not_changed():
    outer = np.ones(3)

    def f(x):
        outer[0] = x
        return np.sum(outer)

    with pytest.raises(rg.Unsupported, match="`?outer`?, which is not local"):
        rg.jit(f)(1.0)
    assert outer[0] == 1.0
