"""vadv of NPBench: vertical advection, a tridiagonal system along the last axis of every column (Thomas' algorithm)."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (112² × 80)": dict(I=112, J=112, K=80)}
SMALL = dict(I=3, J=2, K=5)
DTR = 3.0 / 20.0  # the inverse of the time step; both weights of the implicit scheme are 1/2


def program(random, I, J, K):
    def loss(utens_stage, u_stage, wcon, u_pos, utens):
        utens_stage = utens_stage.copy()
        w = 0.25 * (wcon[1:, :, :] + wcon[:-1, :, :])
        c, d = np.zeros_like(u_pos), np.zeros_like(u_pos)
        upper = w[:, :, 1]
        right = DTR * u_pos[:, :, 0] + utens[:, :, 0] + utens_stage[:, :, 0] - 0.5 * upper * (u_stage[:, :, 1] - u_stage[:, :, 0])
        c[:, :, 0] = 0.5 * upper / (DTR - 0.5 * upper)
        d[:, :, 0] = right / (DTR - 0.5 * upper)
        for k in range(1, K - 1):
            lower, upper = -w[:, :, k], w[:, :, k + 1]
            a = 0.5 * lower
            change = -0.5 * lower * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - 0.5 * upper * (u_stage[:, :, k + 1] - u_stage[:, :, k])
            right = DTR * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + change
            divided = 1.0 / (DTR - a - 0.5 * upper - c[:, :, k - 1] * a)
            c[:, :, k] = 0.5 * upper * divided
            d[:, :, k] = (right - d[:, :, k - 1] * a) * divided
        lower = -w[:, :, K - 1]
        a = 0.5 * lower
        right = DTR * u_pos[:, :, K - 1] + utens[:, :, K - 1] + utens_stage[:, :, K - 1] - 0.5 * lower * (u_stage[:, :, K - 2] - u_stage[:, :, K - 1])
        column = (right - d[:, :, K - 2] * a) / (DTR - a - c[:, :, K - 2] * a)
        utens_stage[:, :, K - 1] = DTR * (column - u_pos[:, :, K - 1])
        for k in range(K - 2, -1, -1):
            column = d[:, :, k] - c[:, :, k] * column
            utens_stage[:, :, k] = DTR * (column - u_pos[:, :, k])
        return np.sum(utens_stage * utens_stage)

    def levels_first(utens_stage, u_stage, wcon, u_pos, utens):
        """All coefficients at once, levels moved to the front; then two scans over levels."""
        w = 0.25 * jnp.moveaxis(wcon[1:] + wcon[:-1], 2, 0)
        u, pos = jnp.moveaxis(u_stage, 2, 0), jnp.moveaxis(u_pos, 2, 0)
        edge = jnp.zeros((1, I, J))
        lower, upper = jnp.concatenate([edge, -w[1:]]), jnp.concatenate([w[1:], edge])
        down = jnp.concatenate([edge, u[:-1] - u[1:]])
        up = jnp.concatenate([u[1:] - u[:-1], edge])
        right = DTR * pos + jnp.moveaxis(utens + utens_stage, 2, 0) - 0.5 * lower * down - 0.5 * upper * up

        def forwards(before, level):
            a, b, r = level
            divided = 1.0 / (DTR - a - b - before[0] * a)
            after = b * divided, (r - before[1] * a) * divided
            return after, after

        def backwards(column, level):
            column = level[1] - level[0] * column
            return column, column

        start = jnp.zeros((I, J))
        cd = jax.lax.scan(forwards, (start, start), (0.5 * lower, 0.5 * upper, right))[1]
        columns = jax.lax.scan(backwards, start, cd, reverse=True)[1]
        return jnp.sum((DTR * (columns - pos)) ** 2)

    field = lambda: random.standard_normal((I, J, K))
    return Program(
        args=(field(), field(), 0.05 * random.standard_normal((I + 1, J, K)), field(), field()),
        forms={"": loss},
        argnums=(0, 1, 2, 3, 4),
        jax_values={"scan of levels": levels_first},
        jax_losses={"scan of levels": levels_first},
    )
