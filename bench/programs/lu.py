"""lu of NPBench: LU factors in place, without pivots; the matrix is diagonally dominant, so that with pivots they are the same."""

import jax
import jax.numpy as jnp
import numpy as np
import retrograd as rg

from contender import Program

SIZES = {"M (220)": dict(n=220)}
SMALL = dict(n=7)


def program(random, n):
    def slices(A):
        A = A.copy()
        for i in range(n):
            for j in range(i):
                A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
            for j in range(i, n):
                A[i, j] -= A[i, :i] @ A[:i, j]
        return np.sum(A * A)

    def loops(A):
        A = A.copy()
        for i in range(n):
            for j in range(i):
                total = A[i, j]
                for k in range(j):
                    total = total - A[i, k] * A[k, j]
                A[i, j] = total / A[j, j]
            for j in range(i, n):
                total = A[i, j]
                for k in range(i):
                    total = total - A[i, k] * A[k, j]
                A[i, j] = total
        return np.sum(A * A)

    def library(A):
        return np.sum(rg.lu(A)[0] ** 2)

    def outer_products(A):
        at = jnp.arange(n)

        def step(A, k):
            column = jnp.where(at > k, A[:, k] / A[k, k], 0.0)
            A = A - jnp.outer(column, jnp.where(at > k, A[k], 0.0))
            return A.at[:, k].set(jnp.where(at > k, column, A[:, k])), None

        return jnp.sum(jax.lax.scan(step, A, at)[0] ** 2)

    losses = {"lax.linalg.lu": lambda A: jnp.sum(jax.lax.linalg.lu(A)[0] ** 2), "scan, outer products": outer_products}
    return Program(
        args=(random.standard_normal((n, n)) / n + 2.0 * np.eye(n),),
        forms={"": slices, "loops": loops, "rg.lu": library},
        argnums=(0,),
        budgets=("auto",),  # the inner loops' counts are known only at run time, which keep_all refuses
        jax_values=losses,
        jax_losses=losses,
    )
