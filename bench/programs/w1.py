"""W1: tanh(a x + b) exp(−x²), elementwise: transcendentals in one pass; at 1e3 elements the cost of a call shows."""

import ctypes
import pathlib

import jax.numpy as jnp
import numpy as np

from contender import Contender, Program, aligned, build, c_call, copied

SIZES = {"1e6": dict(n=1_000_000), "1e3": dict(n=1000)}
SMALL = dict(n=24)


def program(random, n):
    return Program(
        args=(random.standard_normal(n), 1.7, 0.3),
        forms={"": function},
        c=lambda args: c(n, args),
        jax_values={"fused": jax_value},
    )


def function(x, a, b):
    return np.tanh(a * x + b) * np.exp(-x * x)


def c(n, args):
    """C's inside is timed by C: at 1e3 elements a call through ctypes costs as much as the work."""
    library, seconds = build(pathlib.Path(__file__).with_suffix(".c"))
    x, y = copied(args[0]), aligned(n)
    call = c_call(library.forward, n, x, *args[1:], y)
    inside = ctypes.c_double.in_dll(library, "seconds")
    return [Contender("C", lambda: (call(), (y, None))[1], y.nbytes, seconds, clock=lambda: inside.value)], []


def jax_value(x, a, b):
    return jnp.tanh(a * x + b) * jnp.exp(-x * x)
