"""A million Euler steps of the Lorenz system: six scalars, a chain of dependent operations, a long tape."""

import ctypes
import pathlib

import jax

from contender import Contender, Program, aligned, build, c_call

SIZES = {"1e6 steps": dict(steps=1_000_000, segment=1000)}
SMALL = dict(steps=1000, segment=10)
DT = 1e-5


def program(random, steps, segment):
    def loss(x, y, z, sigma, rho, beta):
        for i in range(steps):
            dx = sigma * (y - x)
            dy = x * (rho - z) - y
            dz = x * y - beta * z
            x = x + DT * dx
            y = y + DT * dy
            z = z + DT * dz
        return x * x + y * y + z * z

    return Program(
        args=tuple(float(x) for x in (*random.standard_normal(3), 10.0, 28.0, 8.0 / 3.0)),
        forms={"": loss},
        argnums=(0, 1, 2, 3, 4, 5),
        c=lambda args: c(steps, args),
        jax_values={"fori_loop": jax_value(steps, 1), "fori_loop, unroll 8": jax_value(steps, 8)},
        jax_losses={
            "scan": jax_scan(steps, 1),
            "scan, unroll 8": jax_scan(steps, 8),
            "scan, checkpoint": jax_segments(steps, segment, 1),
            "scan, checkpoint, unroll 8": jax_segments(steps, segment, 8),
        },
    )


class State(ctypes.Structure):
    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double), ("z", ctypes.c_double)]


def c(steps, args):
    library, seconds = build(pathlib.Path(__file__).with_suffix(".c"))
    tape, out = aligned(steps, 3), aligned(6)
    start, parameters = State(*args[:3]), args[3:]
    value = c_call(library.forward, steps, DT, start, *parameters)
    gradient = c_call(library.gradient, steps, DT, start, *parameters, tape, out)
    values = [Contender("C", lambda: (value(), None), 0, seconds)]
    gradients = [Contender("C, keeps states", lambda: (gradient(), tuple(out)), tape.nbytes + out.nbytes, seconds)]
    return values, gradients


def step(state, sigma, rho, beta):
    x, y, z = state
    return x + DT * (sigma * (y - x)), y + DT * (x * (rho - z) - y), z + DT * (x * y - beta * z)


def final(state):
    x, y, z = state
    return x * x + y * y + z * z


def jax_value(steps, unroll):
    def value(x, y, z, sigma, rho, beta):
        return final(jax.lax.fori_loop(0, steps, lambda i, state: step(state, sigma, rho, beta), (x, y, z), unroll=unroll))

    return value


def jax_scan(steps, unroll):
    def value(x, y, z, sigma, rho, beta):
        body = lambda state, _: (step(state, sigma, rho, beta), None)
        return final(jax.lax.scan(body, (x, y, z), None, length=steps, unroll=unroll)[0])

    return value


def jax_segments(steps, length, unroll):
    def value(x, y, z, sigma, rho, beta):
        body = lambda state, _: (step(state, sigma, rho, beta), None)
        segment = jax.checkpoint(lambda state, _: (jax.lax.scan(body, state, None, length=length, unroll=unroll)[0], None))
        return final(jax.lax.scan(segment, (x, y, z), None, length=steps // length)[0])

    return value
