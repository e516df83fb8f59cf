"""Straight-line scalar code of up to 100,000 operations: how compile time grows. Twice the code should take twice as long."""

import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"10k ops": dict(ops=10_000), "20k ops": dict(ops=20_000), "50k ops": dict(ops=50_000), "100k ops": dict(ops=100_000)}
SMALL = dict(ops=200)
PARAMETERS = 32


def program(random, ops):
    rounds = tuple(range(ops // 5))  # a tuple, not a range: Python goes through it, and every round is code of its own

    def expression(p, sin):
        p = [p[k] for k in rounds[:PARAMETERS]]
        x = total = p[0]
        for k in rounds:
            x = 0.5 * sin(x * p[k % PARAMETERS]) + p[(k + 7) % PARAMETERS]
            total = total + x
        return total

    def loss(p):
        return expression(p, np.sin)

    return Program(
        args=(random.uniform(0.5, 1.5, PARAMETERS),),
        forms={"": loss},
        argnums=(0,),
        jax_values={"unrolled": lambda p: expression(p, jnp.sin)},
        jax_losses={"unrolled": lambda p: expression(p, jnp.sin)},
    )
