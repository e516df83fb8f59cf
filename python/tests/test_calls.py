"""Calls of compiled functions: what goes to machine code without a look in Python gives what it gives otherwise, errors included."""

import gc
import os
import weakref

import numpy as np
import pytest

import retrograd as rg


def shifted(x, a):
    return np.sin(x) * a


def test_a_call_like_the_last_gives_what_the_first_gave():
    f = rg.jit(shifted)
    x = np.linspace(0.0, 1.0, 7)
    first = f(x, 2.0)
    assert f._last._direct is not None
    for _ in range(3):
        assert np.array_equal(f(x, 2.0), first) and f._last.stats.bytes_peak == f.compile(x, 2.0).plan.bytes_peak
    assert np.array_equal(f(x, 3.0), np.asarray(rg.jit(shifted)(x, 3.0)))


@pytest.mark.parametrize(
    "x, a",
    [
        (np.arange(12.0)[::2], 2.0),  # not row-major
        (np.arange(6.0, dtype=np.float32), 2.0),
        (np.arange(6), 2.0),
        (np.arange(6.0).astype(">f8").astype("<f8"), np.float64(2.0)),
        (np.arange(6.0), 2),
        (np.arange(6.0), np.full(6, 2.0)),
        (np.arange(8.0), 2.0),
        (np.frombuffer(b"\0" + np.arange(6.0).tobytes(), dtype=np.uint8)[1:].view(np.float64), 2.0),  # not aligned
        (0.5, 2.0),
    ],
)
def test_arguments_of_other_kinds_are_found_out(x, a):
    f = rg.jit(shifted)
    f(np.ones(6), 1.0)
    found, expected = f(x, a), rg.jit(shifted)(x, a)
    assert np.array_equal(found, expected) and np.asarray(found).dtype == np.asarray(expected).dtype and np.shape(found) == np.shape(expected)


def test_what_is_wrong_is_said_after_a_call_that_was_right():
    f = rg.jit(shifted)
    compiled = f.compile(np.ones(6), 1.0)
    f(np.ones(6), 1.0), compiled(np.ones(6), 1.0)
    for wrong in [(np.ones(6), "2"), (np.ones(6),), (np.ones(6), 1.0, 2.0), (np.ones(6) * 1j, 1.0)]:
        with pytest.raises(rg.Error):
            f(*wrong)
        with pytest.raises(rg.Error):
            compiled(*wrong)
    with pytest.raises(rg.Error):
        compiled(np.ones(7), 1.0)
    assert np.array_equal(f(np.ones(6), a=2.0), shifted(np.ones(6), 2.0)) or np.allclose(f(np.ones(6), a=2.0), shifted(np.ones(6), 2.0))


def test_a_gradient_inside_a_traced_function_is_traced():
    def loss(x):
        return np.sum(x * x * x)

    inner = rg.grad(loss)
    inner(np.ones(3)), inner(np.ones(3))

    def outer(x):
        return np.sum(inner(x) * x)

    assert np.allclose(rg.grad(outer)(np.full(3, 2.0)), 9 * np.full(3, 2.0) ** 2)


def test_results_are_not_held():
    f = rg.jit(shifted)
    f(np.ones(6), 1.0)
    result = weakref.ref(f(np.ones(6), 1.0))
    gc.collect()
    assert result() is None


def test_debug_and_observe_do_not_take_what_ran_before():
    f = rg.grad(lambda_free)
    f(np.zeros(2)), f(np.zeros(2))
    with pytest.raises(rg.Error):
        rg.debug_nan(f)(np.zeros(2))


def lambda_free(x):
    return np.sum(np.sqrt(x))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_runs():
    f = rg.jit(shifted)
    expected = f(np.ones(6), 2.0)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(f(np.ones(6), 2.0), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
