"""mlp of NPBench: two layers with relu, one with softmax, a batch of 8. At NPBench's size S: M needs 16 GB in float64 for two contenders."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"S (3, 30000, 2000, 2000)": dict(widths=(3, 30_000, 2000, 2000), batch=8)}
SMALL = dict(widths=(3, 6, 5, 4), batch=2)


def program(random, widths, batch):
    weights = []
    for before, after in zip(widths, widths[1:]):
        weights += [random.standard_normal((before, after)) / np.sqrt(before), 0.1 * random.standard_normal(after)]
    return Program(
        args=(random.standard_normal((batch, widths[0])), *weights),
        forms={"": loss, "np.where, without maximum": with_where},
        argnums=(1, 2, 3, 4, 5, 6),
        jax_values={"nn": jax_loss},
        jax_losses={"nn": jax_loss},
    )


def loss(x, w1, b1, w2, b2, w3, b3):
    x = np.maximum(x @ w1 + b1, 0.0)
    x = np.maximum(x @ w2 + b2, 0.0)
    x = x @ w3 + b3
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    y = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(y * y)


def with_where(x, w1, b1, w2, b2, w3, b3):
    x = x @ w1 + b1
    x = np.where(x > 0.0, x, 0.0) @ w2 + b2
    x = np.where(x > 0.0, x, 0.0) @ w3 + b3
    e = np.exp(x)
    y = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(y * y)


def jax_loss(x, w1, b1, w2, b2, w3, b3):
    x = jax.nn.relu(x @ w1 + b1)
    x = jax.nn.relu(x @ w2 + b2)
    return jnp.sum(jax.nn.softmax(x @ w3 + b3, axis=-1) ** 2)
