"""trisolv of NPBench: a triangular system by forward substitution."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (5000)": dict(n=5000)}
SMALL = dict(n=9)


def program(random, n):
    def slices(L, b):
        x = np.zeros_like(b)
        for i in range(n):
            x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
        return np.sum(x * x)

    def loops(L, b):
        x = np.zeros_like(b)
        for i in range(n):
            total = b[i]
            for j in range(i):
                total = total - L[i, j] * x[j]
            x[i] = total / L[i, i]
        return np.sum(x * x)

    def rows(L, b):
        step = lambda x, i: (x.at[i].set((b[i] - L[i] @ x) / L[i, i]), None)  # x is zero from i on
        return jnp.sum(jax.lax.scan(step, jnp.zeros(n), jnp.arange(n))[0] ** 2)

    library = lambda L, b: jnp.sum(jax.scipy.linalg.solve_triangular(L, b, lower=True) ** 2)
    return Program(
        args=(np.tril(random.standard_normal((n, n)), -1) / n + np.diag(random.uniform(1.0, 2.0, n)), random.standard_normal(n)),
        forms={"": slices, "loops": loops},
        argnums=(0, 1),
        jax_values={"solve_triangular": library, "scan of rows": rows},
        jax_losses={"solve_triangular": library},
    )
