"""gramschmidt of NPBench: modified Gram–Schmidt, column by column. The loss weighs Q and R, for sums of their squares would be trivial."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (220 × 180)": dict(m=220, n=180)}
SMALL = dict(m=7, n=5)


def program(random, m, n):
    def loss(A, W):
        A = A.copy()
        Q, R = np.zeros_like(A), np.zeros_like(A, shape=(n, n))
        for k in range(n):
            R[k, k] = np.sqrt(A[:, k] @ A[:, k])
            Q[:, k] = A[:, k] / R[k, k]
            for j in range(k + 1, n):
                R[k, j] = Q[:, k] @ A[:, j]
                A[:, j] -= Q[:, k] * R[k, j]
        return np.sum(Q * W) + np.sum(R)

    def columns(A, W):
        at = jnp.arange(n)

        def step(A, k):
            length = jnp.sqrt(A[:, k] @ A[:, k])
            q = A[:, k] / length
            r = jnp.where(at > k, q @ A, 0.0)
            return A - jnp.outer(q, r), (q, r.at[k].set(length))

        Q, R = jax.lax.scan(step, A, at)[1]
        return jnp.sum(Q.T * W) + jnp.sum(R)

    def library(A, W):
        Q, R = np.linalg.qr(A)
        signs = np.sign(np.einsum("ii->i", R))
        return np.sum(Q * signs * W) + np.sum(signs[:, None] * R)

    def jax_library(A, W):
        Q, R = jnp.linalg.qr(A)
        signs = jnp.sign(jnp.diagonal(R))
        return jnp.sum(Q * signs * W) + jnp.sum(signs[:, None] * R)

    losses = {"scan of columns": columns, "linalg.qr": jax_library}
    return Program(
        args=(random.standard_normal((m, n)) + 3.0 * np.eye(m, n), random.standard_normal((m, n))),
        forms={"": loss, "np.linalg.qr": library},
        argnums=(0,),
        budgets=("auto",),  # the inner loops' counts are known only at run time, which keep_all refuses
        jax_values=losses,
        jax_losses=losses,
    )
