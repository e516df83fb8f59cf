"""A loop in a loop: 200 × 50 steps of a two-dimensional stencil (Allen–Cahn inside, a forcing outside), under keep_all and in 1 and 0.3 % of all states."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"200 × 50 steps of 64²": dict(outer=200, inner=50, n=64)}
SMALL = dict(outer=200, inner=50, n=6)


def program(random, outer, inner, n):
    def loss(u, force):
        for t in range(outer):
            u = u + 0.1 * np.sin(force * u)
            for k in range(inner):
                a = u[1:-1, 1:-1]
                u[1:-1, 1:-1] = a + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * a) + 0.01 * (a - a * a * a)
        return np.sum(u * u)

    def small(u, _=None):
        a = u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].set(a + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * a) + 0.01 * (a - a * a * a)), None

    def whole(wrap):
        def value(u, force):
            large = lambda u, _: (jax.lax.scan(small, u + 0.1 * jnp.sin(force * u), None, length=inner)[0], None)
            return jnp.sum(jax.lax.scan(wrap(large), u, None, length=outer)[0] ** 2)

        return value

    states = outer * inner * n * n * 8
    return Program(
        args=(random.standard_normal((n, n)), 0.3 * random.standard_normal((n, n))),
        forms={"": loss},
        argnums=(0, 1),
        jax_values={"scan": whole(lambda f: f)},
        jax_losses={"scan": whole(lambda f: f), "scan, checkpoint each outer step": whole(jax.checkpoint)},
        budgets=("keep_all", f"{states // 100} B", f"{states * 3 // 1000} B"),
    )
