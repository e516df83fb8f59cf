"""heat_3d of NPBench: two arrays in turns, seven points."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (50 × 40³)": dict(steps=50, n=40)}
SMALL = dict(steps=3, n=6)


def program(random, steps, n):
    def loss(A, B):
        A, B = A.copy(), B.copy()
        for t in range(1, steps):
            B[1:-1, 1:-1, 1:-1] = seven(A)
            A[1:-1, 1:-1, 1:-1] = seven(B)
        return np.sum(A * A)

    def step(AB, _=None):
        A, B = AB
        inside = lambda X, to: X.at[1:-1, 1:-1, 1:-1].set(to)
        B = inside(B, seven(A))
        return (inside(A, seven(B)), B), None

    return Program(
        args=(random.standard_normal((n, n, n)), random.standard_normal((n, n, n))),
        forms={"": loss},
        argnums=(0, 1),
        jax_values={"fori_loop": lambda A, B: jnp.sum(jax.lax.fori_loop(1, steps, lambda t, AB: step(AB)[0], (A, B))[0] ** 2)},
        jax_losses={
            "scan": lambda A, B: jnp.sum(jax.lax.scan(step, (A, B), None, length=steps - 1)[0][0] ** 2),
            "scan, checkpoint each step": lambda A, B: jnp.sum(jax.lax.scan(jax.checkpoint(step), (A, B), None, length=steps - 1)[0][0] ** 2),
        },
    )


def seven(X):
    """Plain slices: the same for NumPy and JAX."""
    C = X[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (X[2:, 1:-1, 1:-1] - 2.0 * C + X[:-2, 1:-1, 1:-1])
        + 0.125 * (X[1:-1, 2:, 1:-1] - 2.0 * C + X[1:-1, :-2, 1:-1])
        + 0.125 * (X[1:-1, 1:-1, 2:] - 2.0 * C + X[1:-1, 1:-1, :-2])
        + C
    )
