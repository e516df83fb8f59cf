"""W2: 50 steps of a 5-point stencil on 250 × 250, in place by slices: memory traffic inside a cache."""

import jax
import jax.numpy as jnp

from contender import Program, hand_written

SIZES = {"50 × 250²": dict(steps=50, n=250)}
SMALL = dict(steps=7, n=11)


def program(random, steps, n):
    def function(u):
        u = u.copy()
        for t in range(steps):
            u[1:-1, 1:-1] = 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])
        return u

    return Program(
        args=(random.standard_normal((n, n)),),
        forms={"": function},
        c=lambda args: hand_written(__file__, (n, steps), args, [(n, n)], None, results=(n, n)),
        jax_values={"fori_loop": in_place(steps), "fori_loop, interior": interior(steps)},
    )


def five(u):
    return 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])


def in_place(steps):
    return lambda u: jax.lax.fori_loop(0, steps, lambda i, u: u.at[1:-1, 1:-1].set(five(u)), u)


def interior(steps):
    """The interior as carry, put into its constant border by padding: no scatter in the loop."""

    def function(u):
        ring = u.at[1:-1, 1:-1].set(0.0)
        return ring + jnp.pad(jax.lax.fori_loop(0, steps, lambda i, a: five(ring + jnp.pad(a, 1)), u[1:-1, 1:-1]), 1)

    return function
