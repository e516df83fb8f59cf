"""A million Euler steps of the Lorenz system: six scalars, a chain of dependent operations, a long tape."""

import ctypes
import pathlib

import numpy as np
import jax

from contender import Contender, aligned, build, c_call

NAME = "Lorenz"
STEPS, DT = 1_000_000, 1e-5
ARGNUMS = (0, 1, 2, 3, 4, 5)
BUDGETS = [None]


def loss(x, y, z, sigma, rho, beta):
    for i in range(1_000_000):
        dx = sigma * (y - x)
        dy = x * (rho - z) - y
        dz = x * y - beta * z
        x = x + 1e-5 * dx
        y = y + 1e-5 * dy
        z = z + 1e-5 * dz
    return x * x + y * y + z * z


def arguments(random):
    return tuple(float(x) for x in (*random.standard_normal(3), 10.0, 28.0, 8.0 / 3.0))


class State(ctypes.Structure):
    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double), ("z", ctypes.c_double)]


def c(args):
    """(contenders for the value, contenders for the gradient)"""
    library, seconds = build(pathlib.Path(__file__).with_suffix(".c"))
    tape, out = aligned(STEPS, 3), aligned(6)
    start, parameters = State(*args[:3]), args[3:]
    value = c_call(library.forward, STEPS, DT, start, *parameters)
    gradient = c_call(library.gradient, STEPS, DT, start, *parameters, tape, out)
    values = [Contender("C", lambda: (value(), None), 0, seconds)]
    gradients = [Contender("C, keeps states", lambda: (gradient(), tuple(out)), tape.nbytes + out.nbytes, seconds)]
    return values, gradients


def step(state, sigma, rho, beta):
    x, y, z = state
    return x + DT * (sigma * (y - x)), y + DT * (x * (rho - z) - y), z + DT * (x * y - beta * z)


def final(state):
    x, y, z = state
    return x * x + y * y + z * z


def jax_value(unroll):
    def value(x, y, z, sigma, rho, beta):
        return final(jax.lax.fori_loop(0, STEPS, lambda i, state: step(state, sigma, rho, beta), (x, y, z), unroll=unroll))

    return value


def jax_scan(unroll):
    def value(x, y, z, sigma, rho, beta):
        body = lambda state, _: (step(state, sigma, rho, beta), None)
        return final(jax.lax.scan(body, (x, y, z), None, length=STEPS, unroll=unroll)[0])

    return value


def jax_segments(unroll):
    def value(x, y, z, sigma, rho, beta):
        body = lambda state, _: (step(state, sigma, rho, beta), None)
        segment = jax.checkpoint(lambda state, _: (jax.lax.scan(body, state, None, length=1000, unroll=unroll)[0], None))
        return final(jax.lax.scan(segment, (x, y, z), None, length=STEPS // 1000)[0])

    return value


JAX_VALUES = {"fori_loop": jax_value(1), "fori_loop, unroll 8": jax_value(8)}
JAX_LOSSES = {"scan": jax_scan(1), "scan, unroll 8": jax_scan(8), "scan, checkpoint 1000×1000": jax_segments(1), "scan, checkpoint 1000×1000, unroll 8": jax_segments(8)}
