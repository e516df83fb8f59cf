"""softmax of NPBench over the last axis of four; the loss is the sum of squares, for the sum itself is constant."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"M (32, 8, 256, 256)": dict(n=32, heads=8, length=256)}
SMALL = dict(n=2, heads=2, length=5)


def program(random, n, heads, length):
    library = lambda x: jnp.sum(jax.nn.softmax(x, axis=-1) ** 2)
    return Program(
        args=(random.standard_normal((n, heads, length, length)),),
        forms={"": loss, "without maximum": without_maximum},
        argnums=(0,),
        jax_values={"nn.softmax": library, "without maximum": jax_without},
        jax_losses={"nn.softmax": library, "without maximum": jax_without},
    )


def loss(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    y = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(y * y)


def without_maximum(x):
    e = np.exp(x)
    y = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(y * y)


def jax_without(x):
    e = jnp.exp(x)
    return jnp.sum((e / jnp.sum(e, axis=-1, keepdims=True)) ** 2)
