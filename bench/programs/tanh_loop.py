"""1000 steps of s += 0.01 tanh(theta s) on 10,000 elements: arithmetic per element, a long tape."""

import pathlib

import numpy as np
import jax
import jax.numpy as jnp

from contender import Contender, aligned, build, c_call, copied

NAME = "tanh loop"
STEPS, ELEMENTS, TILE = 1000, 10_000, 40
ARGNUMS = (0, 1)
BUDGETS = [None, "1.2 MB"]


def loss(s, theta):
    for i in range(1000):
        s = s + 0.01 * np.tanh(theta * s)
    return np.sum(s**2)


def arguments(random):
    return random.standard_normal(ELEMENTS), random.standard_normal(ELEMENTS)


def c(args):
    """(contenders for the value, contenders for the gradient)"""
    library, seconds = build(pathlib.Path(__file__).with_suffix(".c"))
    s0, theta = map(copied, args)
    vectors, row = ELEMENTS // 8, ELEMENTS * 8
    state, ds, dtheta = aligned(ELEMENTS), aligned(ELEMENTS), aligned(ELEMENTS)
    s_tape, tanh_tape = aligned(STEPS + 1, ELEMENTS), aligned(STEPS, ELEMENTS)
    s_tile, tanh_tile = aligned(STEPS, TILE), aligned(STEPS, TILE)

    def value(who, function, taken, *buffers):
        call = c_call(function, vectors, s0, theta, *buffers)
        return Contender(who, lambda: (call(), None), taken, seconds)

    def gradient(who, function, *tapes):
        call = c_call(function, vectors, s0, theta, *tapes, ds, dtheta)
        return Contender(who, lambda: (call(), (ds, dtheta)), sum(tape.nbytes for tape in tapes) + 2 * row, seconds)

    values = [value("C", library.forward, row, state), value("C, tiles of 40", library.forward_tiled, TILE * 8)]
    gradients = [
        gradient("C, keeps s and tanh", library.gradient, s_tape, tanh_tape),
        gradient("C, keeps s", library.gradient_states, s_tape),
        gradient("C, tiles of 40", library.gradient_tiled, s_tile, tanh_tile),
    ]
    return values, gradients


def jax_value(s, theta):
    return jnp.sum(jax.lax.fori_loop(0, STEPS, lambda i, s: s + 0.01 * jnp.tanh(theta * s), s) ** 2)


def jax_scan(s, theta):
    return jnp.sum(jax.lax.scan(lambda s, _: (s + 0.01 * jnp.tanh(theta * s), None), s, None, length=STEPS)[0] ** 2)


def jax_segments(s, theta):
    step = lambda s, _: (s + 0.01 * jnp.tanh(theta * s), None)
    segment = jax.checkpoint(lambda s, _: (jax.lax.scan(step, s, None, length=40)[0], None))
    return jnp.sum(jax.lax.scan(segment, s, None, length=STEPS // 40)[0] ** 2)


JAX_VALUES = {"fori_loop": jax_value}
JAX_LOSSES = {"scan": jax_scan, "scan, checkpoint 25×40": jax_segments}
