"""`try` around what can only fail when the program runs: the body where it does not fail, else the handler, with nothing of the body."""

import numpy as np
import pytest

import retrograd as rg

LinAlgError = np.linalg.LinAlgError


def matrix(a):
    return np.array([[a, 1.0], [1.0, 2.0]])


def returns(a):
    try:
        L = np.linalg.cholesky(matrix(a))
    except LinAlgError:
        return -a
    return L[1, 1] * a


def jitter_until_it_works(a):
    jitter = 1e-8
    for k in range(8):
        try:
            L = np.linalg.cholesky(matrix(a) + jitter * np.eye(2))
            break
        except LinAlgError:
            jitter *= 10
    else:
        raise ValueError("hopeless")
    return np.sum(L) + jitter


def with_else_and_finally(a):
    try:
        x = np.linalg.solve(matrix(a), np.array([1.0, a]))
    except LinAlgError as error:
        x = np.zeros(2) + a
    else:
        x = x * 2
    finally:
        a = a + 1
    return np.sum(x) * a


def division(a):
    try:
        y = 1.0 / (a - 2.0)
    except ZeroDivisionError:
        y = 3.0 * a
    return y * 2.0


def one_of_two_fails(a):
    try:
        s = np.sum(np.linalg.inv(matrix(a))) + np.sum(np.linalg.cholesky(matrix(a)))
    except LinAlgError:
        s = 7.0 * a
    return s


def what_it_changed_is_undone(a):
    x, log = np.zeros(3), [0.0]
    try:
        L = np.linalg.cholesky(matrix(a))
        x[0] = a
        log[0] = L[0, 0]
    except LinAlgError:
        x[1] = 2.0 * a
    return np.sum(x * np.array([1.0, 10.0, 100.0])) + log[0]


def in_a_function(a):
    def factor(A):
        return np.linalg.cholesky(A)[0, 0]

    try:
        return factor(matrix(a))
    except (ValueError, LinAlgError):
        return a**2


def the_first_handler_that_fits(a):
    try:
        return np.linalg.cholesky(matrix(a))[0, 0]
    except ZeroDivisionError:
        return 100.0 * a
    except LinAlgError:
        return a**3
    except Exception:
        return 200.0 * a


def nothing_can_fail(a):
    try:
        y = {"a": a}["b"]
    except KeyError:
        y = 2.0 * a
    return y * a


PROGRAMS = [
    returns, jitter_until_it_works, with_else_and_finally, division, one_of_two_fails, what_it_changed_is_undone, in_a_function, the_first_handler_that_fits,
    nothing_can_fail,
]


@pytest.mark.parametrize("a", [2.0, 0.1, 0.3, 0.49, 3.0])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_gradient(f, a):
    g = rg.value_and_grad(f)
    try:
        expected = f(a)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            g(a)
        return
    value, gradient = g(a)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    if a != 2.0:  # where a way changes
        np.testing.assert_allclose(gradient, (f(a + 1e-7) - f(a - 1e-7)) / 2e-7, rtol=1e-5, atol=1e-6)


def test_the_gradient_where_a_matrix_is_just_singular_is_that_of_the_handler():
    assert rg.grad(one_of_two_fails)(0.5) == 7.0


def test_what_is_not_caught_ends_the_run():
    def f(a):
        try:
            return np.linalg.cholesky(matrix(a))[0, 0]
        except ZeroDivisionError:
            return a

    assert rg.jit(f)(2.0) == f(2.0)
    with pytest.raises(LinAlgError):
        rg.grad(f)(0.1)


def test_a_loop_in_the_body_is_refused_at_its_line():
    def f(a):
        try:
            for k in range(3):
                a = a + np.linalg.cholesky(matrix(a))[0, 0]
        except LinAlgError:
            a = 0.0
        return a

    with pytest.raises(rg.Unsupported, match="put the `try` inside"):
        rg.grad(f)(2.0)


def binds_a_name(A):
    y = 0.0
    try:
        y = 5.0
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        pass
    return y * A[0, 0]


def writes_into_an_array(A):
    try:
        A[0, 1] = 9.0
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        pass
    return A.sum()


def changes_a_list(A):
    xs = [0.0]
    try:
        xs[0] = A[0, 0]
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        pass
    return xs[0]


@pytest.mark.parametrize("f", [binds_a_name, writes_into_an_array, changes_a_list])
def test_what_a_body_changes_before_it_fails_would_be_lost_and_is_refused(f):
    with pytest.raises(rg.Unsupported, match="before something that can only fail"):
        rg.grad(f)(np.eye(2))
