"""hdiff of NPBench: horizontal diffusion with limited fluxes, one pass; stencils of stencils and selections."""

import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (128² × 160)": dict(I=128, J=128, K=160)}
SMALL = dict(I=4, J=5, K=3)


def program(random, I, J, K):
    def diffused(field, coefficient, where):
        centre = field[1:-1, 1:-1]
        laplace = 4.0 * centre - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
        along = laplace[1:, 1:-1] - laplace[:-1, 1:-1]
        along = where(along * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0, 0.0, along)
        across = laplace[1:-1, 1:] - laplace[1:-1, :-1]
        across = where(across * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0, 0.0, across)
        return field[2:-2, 2:-2] - coefficient * (along[1:] - along[:-1] + across[:, 1:] - across[:, :-1])

    def loss(field, coefficient):
        out = diffused(field, coefficient, np.where)
        return np.sum(out * out)

    jax_loss = lambda field, coefficient: jnp.sum(diffused(field, coefficient, jnp.where) ** 2)
    return Program(
        args=(random.standard_normal((I + 4, J + 4, K)), random.standard_normal((I, J, K))),
        forms={"": loss},
        argnums=(0, 1),
        jax_values={"fused": jax_loss},
        jax_losses={"fused": jax_loss},
    )
