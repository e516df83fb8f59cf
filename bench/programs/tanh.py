"""1000 steps of s += 0.01 tanh(theta s) on 10,000 elements: arithmetic per element, a long tape."""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np

from contender import AS_IT_STANDS, Contender, Program, aligned, build, c_call, copied

SIZES = {"1000 × 10,000": dict(n=10_000)}
SMALL = dict(n=80)
STEPS, TILE = 1000, 40  # as in tanh.c


def program(random, n):
    return Program(
        args=(random.standard_normal(n), random.standard_normal(n)),
        forms={"": loss},
        argnums=(0, 1),
        c=lambda args: c(n, args),
        jax_values={"fori_loop": jax_value},
        jax_losses={"scan": jax_scan, "scan, checkpoint 25×40": jax_segments},
        budgets=("keep_all", f"{120 * n} B", f"{500 * n} B{AS_IT_STANDS}"),
        peers=others,
    )


def loss(s, theta):
    for i in range(STEPS):
        s = s + 0.01 * np.tanh(theta * s)
    return np.sum(s**2)


def c(n, args):
    library, seconds = build(pathlib.Path(__file__).with_suffix(".c"))
    s0, theta = map(copied, args)
    vectors, row = n // 8, n * 8
    state, ds, dtheta = aligned(n), aligned(n), aligned(n)
    s_tape, tanh_tape = aligned(STEPS + 1, n), aligned(STEPS, n)
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


def step(s, theta):
    return s + 0.01 * jnp.tanh(theta * s)


def others():
    import peers

    # Ten states of 8n bytes beside results and adjoints are about 120n bytes; with all of them no step runs again.
    loss, losses = lambda s: jnp.sum(s**2), {}
    for held in (10, 60, STEPS):
        of_jax = peers.equinox_losses(step, loss, STEPS, held) | peers.diffrax_loss(lambda s, theta: jnp.tanh(theta * s), loss, STEPS, 0.01, held)
        losses |= {f"{who}, {held} states": f for who, f in of_jax.items()}
    return losses, peers.revolve(step, loss, STEPS, 10)


def jax_value(s, theta):
    return jnp.sum(jax.lax.fori_loop(0, STEPS, lambda i, s: step(s, theta), s) ** 2)


def jax_scan(s, theta):
    return jnp.sum(jax.lax.scan(lambda s, _: (step(s, theta), None), s, None, length=STEPS)[0] ** 2)


def jax_segments(s, theta):
    segment = jax.checkpoint(lambda s, _: (jax.lax.scan(lambda s, _: (step(s, theta), None), s, None, length=40)[0], None))
    return jnp.sum(jax.lax.scan(segment, s, None, length=STEPS // 40)[0] ** 2)
