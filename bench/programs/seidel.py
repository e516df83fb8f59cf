"""seidel_2d of NPBench: nine points, each from values that are already new: no two elements of a row are independent."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (15 × 100²)": dict(steps=15, n=100)}
SMALL = dict(steps=3, n=6)


def program(random, steps, n):
    def elements(A):
        A = A.copy()
        for t in range(steps - 1):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    above = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                    below = A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                    A[i, j] = (above + A[i, j - 1] + A[i, j] + A[i, j + 1] + below) / 9.0
        return np.sum(A * A)

    def rows(A):
        A = A.copy()
        for t in range(steps - 1):
            for i in range(1, n - 1):
                A[i, 1:-1] = A[i, 1:-1] + A[i, 2:] + A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
                for j in range(1, n - 1):
                    A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0
        return np.sum(A * A)

    def sweep(recurrence):
        def row(above, pair):
            old, below = pair
            known = (above[:-2] + above[1:-1] + above[2:] + old[1:-1] + old[2:] + below[:-2] + below[1:-1] + below[2:]) / 9.0
            new = jnp.concatenate([old[:1], recurrence(old[0], known), old[-1:]])
            return new, new

        def body(A, _=None):
            return jnp.concatenate([A[:1], jax.lax.scan(row, A[0], (A[1:-1], A[2:]))[1], A[-1:]]), None

        return body

    fori = lambda recurrence: lambda A: jnp.sum(jax.lax.fori_loop(0, steps - 1, lambda t, A: sweep(recurrence)(A)[0], A) ** 2)
    scan = lambda recurrence: lambda A: jnp.sum(jax.lax.scan(sweep(recurrence), A, None, length=steps - 1)[0] ** 2)
    return Program(
        args=(random.standard_normal((n, n)),),
        forms={"": elements, "rows": rows},
        argnums=(0,),
        jax_values={"scan of rows, scan": fori(one_by_one), "scan of rows, associative_scan": fori(associative)},
        jax_losses={"scan of rows, scan": scan(one_by_one), "scan of rows, associative_scan": scan(associative)},
    )


def one_by_one(first, known):
    """y[j] = y[j−1] / 9 + known[j]."""
    step = lambda y, r: (y / 9.0 + r, y / 9.0 + r)
    return jax.lax.scan(step, first, known)[1]


def associative(first, known):
    combine = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
    known = known.at[0].add(first / 9.0)
    return jax.lax.associative_scan(combine, (jnp.full(known.shape, 1.0 / 9.0), known))[1]
