"""cholesky of NPBench: the lower factor in place of the lower triangle; what is above the diagonal is neither read nor written."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (300)": dict(n=300)}
SMALL = dict(n=7)


def program(random, n):
    def slices(A):
        A = A.copy()
        for i in range(n):
            for j in range(i):
                A[i, j] = (A[i, j] - A[i, :j] @ A[j, :j]) / A[j, j]
            A[i, i] = np.sqrt(A[i, i] - A[i, :i] @ A[i, :i])
        return np.sum(A * A)

    def loops(A):
        A = A.copy()
        for i in range(n):
            for j in range(i):
                total = A[i, j]
                for k in range(j):
                    total = total - A[i, k] * A[j, k]
                A[i, j] = total / A[j, j]
            total = A[i, i]
            for k in range(i):
                total = total - A[i, k] * A[i, k]
            A[i, i] = np.sqrt(total)
        return np.sum(A * A)

    def library(A):
        return np.sum(np.linalg.cholesky(A) ** 2) + np.sum(np.triu(A, 1) ** 2)

    def jax_library(A):
        L = jax.lax.linalg.cholesky(jnp.tril(A) + jnp.tril(A, -1).T, symmetrize_input=False)
        return jnp.sum(jnp.tril(L) ** 2) + jnp.sum(jnp.triu(A, 1) ** 2)

    A = random.standard_normal((n, n)) / np.sqrt(n)
    return Program(
        args=(A @ A.T + 2.0 * np.eye(n),),
        forms={"": slices, "loops": loops, "np.linalg.cholesky": library},
        argnums=(0,),
        budgets=("auto",),  # the inner loops' counts are known only at run time, which keep_all refuses
        jax_values={"lax.linalg.cholesky": jax_library},
        jax_losses={"lax.linalg.cholesky": jax_library},
    )
