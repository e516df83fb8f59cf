"""What results are held against: the plain function in NumPy, the same source in JAX, the complex step, and differences."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import retrograd as rg

jax.config.update("jax_enable_x64", True)


def collector():
    """A list of cases, and the decorator that adds a function with its arguments to it."""
    cases = []

    def case(*args):
        def add(f):
            cases.append(pytest.param(f, args, id=f.__name__))
            return f

        return add

    return cases, case


def copies(args):
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def close(found, expected, tolerance=1e-12):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"shape {found.shape}, expected {expected.shape}"
    scale = max(1.0, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def check_value(f, *args):
    """`rg.jit(f)` equals f run by NumPy itself."""
    found, expected = rg.jit(f)(*copies(args)), f(*copies(args))
    if not isinstance(expected, (tuple, list)):
        found, expected = [found], [expected]
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        close(a, b)


def check(f, *args, tolerance=1e-12):
    """Value as NumPy computes it, gradients by the complex step, for all float arguments."""
    argnums = tuple(k for k, arg in enumerate(args) if np.asarray(arg).dtype == np.float64)
    originals = copies(args)
    value, gradients = rg.value_and_grad(f, argnums=argnums)(*args)
    for arg, original in zip(args, originals):
        np.testing.assert_array_equal(arg, original)
    close(value, f(*copies(args)), tolerance)
    for argnum, gradient in zip(argnums, gradients):
        close(gradient, complex_step(f, args, argnum), tolerance)


def same_bits(f, *args, strategy=None):
    """Machine code computes the bits of the reference interpreter, value and gradients, and the value has them without gradients, too."""
    argnums = tuple(k for k, arg in enumerate(args) if np.asarray(arg).dtype == np.float64)
    executable = rg.value_and_grad(f, argnums=argnums, strategy=strategy).compile(*args)._executable
    inputs = [np.asarray(arg) for arg in args]
    for found, expected in zip(executable.run(inputs)[0], executable.interpret(inputs)):
        np.testing.assert_array_equal(found, expected)
    value = executable.run(inputs)[0][0]
    np.testing.assert_array_equal(rg.jit(f).compile(*args)._executable.run(inputs)[0][0], value)


def complex_step(f, args, argnum):
    """∂f/∂x by f(x + ih) = f(x) + ih f′(x): exact to rounding, and it runs the plain function."""
    x = np.asarray(args[argnum])
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        point = [np.array(arg, complex) if np.asarray(arg).dtype == np.float64 and np.ndim(arg) else arg for arg in copies(args)]
        if x.shape:
            point[argnum][index] += 1e-30j
        else:
            point[argnum] = point[argnum] + 1e-30j
        gradient[index] = np.imag(f(*point)) / 1e-30
    return gradient


def check_jax(f, *args, reference=None, argnums=None, tolerance=1e-12):
    """Value and gradients as JAX computes them, from the same source (or from another function that needs no in-place change)."""
    if argnums is None:
        argnums = tuple(k for k, arg in enumerate(args) if np.asarray(arg).dtype == np.float64)
    if reference is None:
        reference = types.FunctionType(f.__code__, {**f.__globals__, "np": jnp}, f.__name__, f.__defaults__, f.__closure__)
    expected = jax.value_and_grad(reference, argnums=argnums)(*args)
    found = rg.value_and_grad(f, argnums=argnums)(*args)
    close(found[0], expected[0], tolerance)
    close(found[0], f(*copies(args)), tolerance)
    for a, b in zip(found[1], expected[1]):
        close(a, b, tolerance)


def check_by_differences(f, x):
    """Value and gradient of a function of one vector, against NumPy's value and central differences of it."""
    value, gradient = rg.value_and_grad(f)(x.copy())
    h = 1e-6
    differences = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)]
    np.testing.assert_allclose(value, f(x.copy()), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7)
