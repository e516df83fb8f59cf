"""Checks: which error ends a run, at which line, and that it is the exception that was asked for."""

import inspect

import numpy as np
import pytest

import retrograd as rg

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
REGULAR = np.array([[4.0, 1.0], [1.0, 3.0]])


def line_of(function, words):
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if words in line)


def fails(function, words, call, kind, message):
    """The call raises this, at the line of the function that has these words."""
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, rg.CheckError)
    assert caught.value.message == message
    assert caught.value.pos == (__file__, line_of(function, words))


def factor(a):
    return np.sum(np.linalg.cholesky(a))


def upper(a):
    return np.sum(np.linalg.cholesky(a, upper=True))


def inverse(a):
    return np.sum(np.linalg.inv(a))


def solved(a):
    return np.sum(np.linalg.solve(a, np.ones(2)))


MATRICES = [
    (factor, INDEFINITE, "Matrix is not positive definite"),
    (upper, INDEFINITE, "Matrix is not positive definite"),
    (inverse, SINGULAR, "Singular matrix"),
    (solved, SINGULAR, "Singular matrix"),
]


@pytest.mark.parametrize(("function", "wrong", "message"), MATRICES)
@pytest.mark.parametrize("transform", [rg.jit, rg.grad, rg.value_and_grad, rg.hessian])
def test_a_matrix_without_an_answer_is_an_error_of_numpy(function, wrong, message, transform):
    compiled = transform(function)
    compiled(REGULAR)
    fails(function, "np.linalg", lambda: compiled(wrong), np.linalg.LinAlgError, message)
    fails(function, "np.linalg", lambda: compiled(wrong), rg.LinAlgError, message)
    with pytest.raises(np.linalg.LinAlgError, match=message):
        function(wrong)
    compiled(REGULAR)


def test_one_matrix_of_a_batch_is_enough():
    compiled = rg.grad(factor)
    batch = np.stack([REGULAR, INDEFINITE, REGULAR])
    fails(factor, "np.linalg", lambda: compiled(batch), np.linalg.LinAlgError, "Matrix is not positive definite")
    assert np.isfinite(compiled(np.stack([REGULAR] * 3))).all()


def test_empty_matrices_have_answers():
    assert rg.jit(factor)(np.zeros((0, 0))) == 0.0
    assert rg.jit(inverse)(np.zeros((0, 0))) == 0.0


def test_a_nan_is_none_of_the_errors_of_solve():
    wrong = np.array([[np.nan, 1.0], [1.0, 2.0]])
    assert np.isnan(rg.jit(solved)(wrong)) and np.isnan(solved(wrong))
    with pytest.raises(np.linalg.LinAlgError):
        rg.jit(factor)(wrong)


def in_a_loop(a, steps):
    s = 0.0
    for i in range(steps):
        a = a - np.eye(2)
        s = s + np.linalg.cholesky(a)[1, 1]
    return s


def test_a_factorisation_in_a_loop_fails_at_its_step():
    for budget in (None, 2000):
        compiled = rg.value_and_grad(in_a_loop, budget=budget)
        assert np.isfinite(compiled(5 * REGULAR, 5)[0])
        fails(in_a_loop, "cholesky", lambda: compiled(5 * REGULAR, 50), np.linalg.LinAlgError, "Matrix is not positive definite")


def growing(x, steps):
    for i in range(steps):
        rg.check(x < 100.0, "x grows too large")
        x = x * x
    return np.sum(x)


@pytest.mark.parametrize("backend", ["cranelift", "cranelift:narrow"])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_step_that_fails_ends_the_run(backend, threads):
    compiled = rg.grad(growing, backend=backend, threads=threads)
    np.testing.assert_allclose(compiled(np.array([1.0, 0.5]), 4), [16.0, 16.0 * 0.5**15])
    fails(growing, "rg.check", lambda: compiled(np.array([1.0, 3.0]), 4), rg.CheckError, "x grows too large")
    # A loop of fewer steps does not come to it.
    compiled(np.array([1.0, 3.0]), 2)


class Mine(Exception):
    """An exception of the user's."""


def two_kinds(x, y):
    rg.check(x > 0.0, "x must be positive", raises=ValueError)
    rg.check([True, True], "lists hold where all of their elements do")
    rg.check(np.all(y > 0.0), "y must be positive", raises=Mine)
    return np.sqrt(x) * np.sum(np.log(y))


def test_a_check_raises_what_it_was_told_to():
    compiled, good = rg.value_and_grad(two_kinds, argnums=(0, 1)), np.array([1.0, 2.0])
    compiled(1.0, good)
    fails(two_kinds, "x must", lambda: compiled(-1.0, good), ValueError, "x must be positive")
    fails(two_kinds, "y must", lambda: compiled(1.0, -good), Mine, "y must be positive")
    fails(two_kinds, "x must", lambda: compiled(-1.0, -good), ValueError, "x must be positive")
    # The same without a compilation.
    fails(two_kinds, "x must", lambda: two_kinds(-1.0, good), ValueError, "x must be positive")
    fails(two_kinds, "y must", lambda: two_kinds(1.0, -good), Mine, "y must be positive")


def on_one_side(x):
    if x > 0.0:
        rg.check(x < 10.0, "x is too large")
        y = np.sqrt(x)
    else:
        y = -x
    return y


def test_a_side_that_is_not_taken_does_not_check():
    compiled = rg.grad(on_one_side)
    assert compiled(-20.0) == -1.0
    assert compiled(4.0) == 0.25
    fails(on_one_side, "rg.check", lambda: compiled(20.0), rg.CheckError, "x is too large")


def until(x):
    while x < 1000.0:
        rg.check(x > 0.0, "x would never grow")
        x = x * 2.0
    return x


def test_a_loop_that_would_never_end_is_left():
    compiled = rg.grad(until)
    assert compiled(1.0) == 1024.0
    fails(until, "rg.check", lambda: compiled(-1.0), rg.CheckError, "x would never grow")


def test_a_loaded_function_raises_the_same(tmp_path):
    rg.value_and_grad(two_kinds, argnums=(0, 1)).compile(1.0, np.ones(2)).save(tmp_path / "checked.rgx")
    loaded = rg.load(tmp_path / "checked.rgx")
    fails(two_kinds, "x must", lambda: loaded(-1.0, np.ones(2)), ValueError, "x must be positive")


def test_an_exception_can_be_caught_by_its_name_of_builtins():
    for kind in (AssertionError, ZeroDivisionError, KeyError, RuntimeError, OverflowError):
        tag = rg.errors.tag_of(kind)
        assert tag == kind.__name__
        assert isinstance(rg.errors.of_check("message", None, tag), kind)
    unknown = rg.errors.of_check("message", None, "elsewhere.Error")
    assert type(unknown) is rg.CheckError and unknown.tag == "elsewhere.Error"
