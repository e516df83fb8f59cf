"""W3: a scalar recurrence of 1e7 steps: the latency of a chain of operations, nothing else."""

import jax

from contender import Program, hand_written

SIZES = {"1e7 steps": dict(steps=10_000_000)}
SMALL = dict(steps=100)


def program(random, steps):
    def function(x, r):
        for i in range(steps):
            x = r * x * (1.0 - x)
        return x

    return Program(
        args=(0.3, 3.5),  # a cycle of four: no rounding is amplified
        forms={"": function},
        c=lambda args: hand_written(__file__, (steps,), args, [], None),
        jax_values={"fori_loop": loop(steps, 1), "fori_loop, unroll 8": loop(steps, 8)},
    )


def loop(steps, unroll):
    return lambda x, r: jax.lax.fori_loop(0, steps, lambda i, x: r * x * (1.0 - x), x, unroll=unroll)
