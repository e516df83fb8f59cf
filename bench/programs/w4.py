"""W4: the sum of squares of 1e6 elements: a reduction."""

import jax.numpy as jnp
import numpy as np

from contender import Program, hand_written

SIZES = {"1e6": dict(n=1_000_000)}
SMALL = dict(n=1003)


def program(random, n):
    return Program(
        args=(random.standard_normal(n),),
        forms={"": function},
        c=lambda args: hand_written(__file__, (n,), args, [], None),
        jax_values={"sum": lambda x: jnp.sum(x * x), "dot": lambda x: jnp.dot(x, x)},
    )


def function(x):
    return np.sum(x * x)
