"""The finite elements of `fem` in a loop in a loop, 200 × 50 steps, under keep_all and in 1 and 0.5 % of all states."""

import jax
import numpy as np

from contender import Program
from programs import fem

SIZES = {"200 × 50 steps of 125 nodes, 384 tetrahedra": dict(outer=200, inner=50, edge=5)}
SMALL = dict(outer=20, inner=10, edge=3)


def program(random, outer, inner, edge):
    X, tets, B, volume, w = fem.mesh(edge)
    moduli = random.uniform(0.8, 1.2, len(tets)), random.uniform(1.5, 2.5, len(tets))

    def loss(v, mu, lam, X, tets, B, volume, w):
        x = X
        for t in range(outer):
            for k in range(inner):
                v = v + fem.DT * w[:, None] * fem.forces(x, mu, lam, tets, B, volume)
                x = x + fem.DT * v
        return np.sum((x - X) ** 2) + np.sum(v * v)

    def whole(wrap):
        def value(v, mu, lam, X, tets, B, volume, w):
            small = lambda state, _: (fem.step(state, fem.forces_by_components, mu, lam, tets, B, volume, w), None)
            large = lambda state, _: (jax.lax.scan(small, state, None, length=inner)[0], None)
            return fem.final(jax.lax.scan(wrap(large), (X, v), None, length=outer)[0], X)

        return value

    states = outer * inner * 2 * X.nbytes
    return Program(
        args=(0.3 * random.standard_normal(X.shape), *moduli, X, tets, B, volume, w),
        forms={"": loss},
        argnums=(0, 1, 2),
        jax_values={"scan": whole(lambda f: f)},
        jax_losses={"scan": whole(lambda f: f), "scan, checkpoint each outer step": whole(jax.checkpoint)},
        budgets=("keep_all", f"{states // 100} B", f"{states // 200} B"),
        numpy=edge < 4,
        tolerance=1e-8,
    )
