"""The logistic map, a million steps: the loss is the mean of the orbit, so that every step has a cotangent."""

import jax

from contender import Program, hand_written

SIZES = {"1e6 steps": dict(steps=1_000_000, segment=1000)}
SMALL = dict(steps=1000, segment=10)


def program(random, steps, segment):
    def loss(x, r):
        total = 0.0
        for i in range(steps):
            total = total + x
            x = r * x * (1.0 - x)
        return total / steps

    return Program(
        args=(0.3, 3.5),  # a cycle of four: neither the orbit nor its derivative amplifies rounding
        forms={"": loss},
        argnums=(0, 1),
        c=lambda args: hand_written(__file__, (steps,), args, [(steps,)], [(), ()], scratch_value=[], who="C, keeps states"),
        jax_values={"fori_loop": value(steps, 1), "fori_loop, unroll 8": value(steps, 8)},
        jax_losses={"scan": scan(steps), "scan, checkpoint": segments(steps, segment)},
    )


def step(state, r):
    x, total = state
    return r * x * (1.0 - x), total + x


def value(steps, unroll):
    return lambda x, r: jax.lax.fori_loop(0, steps, lambda i, state: step(state, r), (x, 0.0), unroll=unroll)[1] / steps


def scan(steps):
    return lambda x, r: jax.lax.scan(lambda state, _: (step(state, r), None), (x, 0.0), None, length=steps)[0][1] / steps


def segments(steps, length):
    def loss(x, r):
        inner = lambda state, _: (step(state, r), None)
        segment = jax.checkpoint(lambda state, _: (jax.lax.scan(inner, state, None, length=length)[0], None))
        return jax.lax.scan(segment, (x, 0.0), None, length=steps // length)[0][1] / steps

    return loss
