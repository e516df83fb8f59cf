"""Roots, fixed points and minima inside of a program, with derivatives by the implicit function theorem: `rg.root`, `rg.fixed_point`, `rg.minimize`.

The iteration that finds a point is not differentiated. From there two steps of Newton's method are taken that are: the first makes the first
derivative right, the second those up to the third, in both modes, by all that the function depends on, also what it only closes over.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import api, errors
from .custom import check, stop_gradient
from .functions import _as_array
from .outcome import readable
from .rewrite import rewrite
from .trace import current


def root(fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), tol: float = 1e-12, maxiter: int = 100) -> Any:
    """x with `fun(x, *args) = 0`, near `x0`, by Newton's method with halved steps; x is a number or an array, and `fun` gives as many.

        >>> rg.grad(lambda a: rg.root(lambda x: x**2 - a, 1.0))(4.0)
        array(0.25)

    The derivative by `x0` is 0. A run in which it does not converge ends with an `rg.CheckError`.
    """
    return _traced(_root, fun, x0, args, tol, maxiter)


def fixed_point(
    fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), tol: float = 1e-12, maxiter: int = 10_000
) -> Any:
    """x with `fun(x, *args) = x`, by iteration from `x0`, which `fun` brings closer."""
    return _traced(_fixed_point, fun, x0, args, tol, maxiter)


def minimize(
    fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), tol: float = 1e-8, maxiter: int = 500
) -> Any:
    """x at which the number `fun(x, *args)` has a local minimum, from `x0`, by the method of Broyden, Fletcher, Goldfarb and Shanno.

    The Hessian there must not be singular. `tol` bounds the largest element of the gradient.
    """
    return _traced(_minimize, fun, x0, args, tol, maxiter)


def _traced(solve, fun, x0, args, tol, maxiter):
    if current() is not None:
        return solve(fun, x0, args, tol, maxiter)
    # Outside of a trace, one is made.
    return api.jit(lambda x0, args: solve(fun, x0, args, tol, maxiter))(1.0 * np.asarray(x0), args)


def _flat(fun, x0, args):
    """The function of a vector, the vector, and its shape."""
    start = 1.0 * _as_array(x0)
    called = readable(fun)

    def flat(x):
        return 1.0 * np.reshape(_as_array(called(np.reshape(x, start.shape) if start.shape else x[0], *args)), (-1,))

    return flat, np.reshape(stop_gradient(start), (-1,)), start.shape


def _shaped(x, shape):
    return np.reshape(x, shape) if shape else x[0]


def _root(fun, x0, args, tol, maxiter):
    flat, x, shape = _flat(fun, x0, args)
    if flat(x).shape != x.shape:
        raise errors.ShapeError(
            f"rg.root: the function gives {flat(x).shape[0]} numbers for {x.shape[0]} unknowns", errors.here()
        )
    x, error = rewrite(_newton)(flat, x, tol, maxiter)
    check(error <= np.maximum(1e3 * tol, 1e-6), "rg.root did not converge", RuntimeError)
    return _shaped(_implicit(flat, x), shape)


def _newton(fun, x, tol, maxiter):
    """Newton's steps, halved while they make the residual larger."""
    value, n = fun(x), 0
    error = np.max(np.abs(value))
    while error > tol and n < maxiter:
        n = n + 1
        step = np.linalg.solve(_jacobian(fun, x), value)
        length, k = 1.0, 0
        following = fun(x - step)
        while ~(np.max(np.abs(following)) < error) and k < 30:
            length = 0.5 * length
            k = k + 1
            following = fun(x - length * step)
        x = x - length * step
        value = following
        # A step that does not help any more ends the search.
        n = np.where(k >= 30, maxiter, n)
        error = np.max(np.abs(value))
    return x, error


def _jacobian(fun, x):
    return api.jacfwd(fun)(x)


def _implicit(fun, x):
    x = stop_gradient(x)
    for _ in range(2):
        x = x - np.linalg.solve(_jacobian(fun, x), fun(x))
    return x


def _fixed_point(fun, x0, args, tol, maxiter):
    flat, x, shape = _flat(fun, x0, args)
    x, moved = rewrite(_iterated)(flat, x, tol, maxiter)
    check(
        moved <= np.maximum(1e3 * tol, 1e-6) * np.maximum(1.0, np.max(np.abs(x))),
        "rg.fixed_point did not converge",
        RuntimeError,
    )
    return _shaped(_implicit(lambda x: x - flat(x), x), shape)


def _iterated(fun, x, tol, maxiter):
    moved, n = np.max(np.abs(x)) * 0.0 + np.inf, 0
    while moved > tol * np.maximum(1.0, np.max(np.abs(x))) and n < maxiter:
        n = n + 1
        following = fun(x)
        moved = np.max(np.abs(following - x))
        x = following
    return x, moved


def _minimize(fun, x0, args, tol, maxiter):
    flat, x, shape = _flat(fun, x0, args)
    value = lambda x: flat(x)[0]
    slope = api.grad(value)
    x, size = rewrite(_descended)(value, slope, x, _as_array(np.eye(x.shape[0])), tol, maxiter)
    check(size <= np.maximum(1e3 * tol, 1e-4), "rg.minimize did not converge", RuntimeError)
    return _shaped(_implicit(slope, x), shape)


def _descended(value, slope, x, eye, tol, maxiter):
    """BFGS with steps halved by Armijo's rule."""
    inverse, g, n = eye, slope(x), 0
    here = value(x)
    while np.max(np.abs(g)) > tol and n < maxiter:
        n = n + 1
        direction = -(inverse @ g)
        descent = np.sum(direction * g)
        direction = np.where(descent < 0, direction, -g)
        descent = np.where(descent < 0, descent, -np.sum(g * g))
        length, k = 1.0, 0
        there = value(x + direction)
        while ~(there <= here + 1e-4 * length * descent) and k < 50:
            length = 0.5 * length
            k = k + 1
            there = value(x + length * direction)
        s = length * direction
        x = x + s
        following = slope(x)
        y = following - g
        curvature = np.sum(s * y)
        fine = curvature > 1e-12 * np.sqrt(np.sum(s * s) * np.sum(y * y))
        rho = 1.0 / np.where(fine, curvature, 1.0)
        left = eye - rho * s[:, None] * y[None, :]
        updated = left @ inverse @ np.transpose(left) + rho * s[:, None] * s[None, :]
        inverse = np.where(fine, updated, eye)
        g = following
        here = there
        n = np.where(k >= 50, maxiter, n)
    return x, np.max(np.abs(g))
