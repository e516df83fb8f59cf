"""The LSTM of ADBench: 2 layers of 14 elementwise cells, a sequence of 1024 characters of 14 bits; gradient by all weights.

ADBench's cell has no matrices: each gate is a function of weight × input (or state) + bias, element by element.
"""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program, hand_written

SIZES = {"l=2, c=1024": dict(layers=2, length=1024)}
SMALL = dict(layers=2, length=5)
WIDTH = 14  # as in lstm.c


def program(random, layers, length):
    def loss(weights, ends, state, sequence):
        state = state.copy()
        b = WIDTH
        total = 0.0
        for t in range(length - 1):
            x = sequence[t] * ends[0]
            for k in range(layers):
                weight, bias = weights[2 * k], weights[2 * k + 1]
                hidden, cell = state[2 * k], state[2 * k + 1]
                forget = 1.0 / (1.0 + np.exp(-(x * weight[:b] + bias[:b])))
                ingate = 1.0 / (1.0 + np.exp(-(hidden * weight[b : 2 * b] + bias[b : 2 * b])))
                outgate = 1.0 / (1.0 + np.exp(-(x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])))
                change = np.tanh(hidden * weight[3 * b :] + bias[3 * b :])
                new = cell * forget + ingate * change
                x = outgate * np.tanh(new)
                state[2 * k] = x
                state[2 * k + 1] = new
            y = x * ends[1] + ends[2]
            total = total + np.sum(sequence[t + 1] * (y - np.log(np.sum(np.exp(y)) + 2.0)))
        return -total / ((length - 1) * b)

    shapes = [(2 * layers, 4 * WIDTH), (3, WIDTH), (2 * layers, WIDTH)]
    args = [random.uniform(-1.0, 1.0, shape) for shape in shapes]
    tape = (length - 1, layers, 8, 16)
    return Program(
        args=(*args, random.integers(0, 2, (length, WIDTH)).astype(float)),
        forms={"": loss},
        argnums=(0, 1),
        c=lambda args: hand_written(__file__, (layers, length), args, [tape, (2 * layers, 16)], shapes[:2], scratch_value=[(2 * layers, 16)]),
        jax_values={"scan": scan(layers, length)},
        jax_losses={"scan": scan(layers, length), "scan, checkpoint each step": scan(layers, length, jax.checkpoint)},
    )


def scan(layers, length, wrap=lambda f: f):
    b = WIDTH

    def loss(weights, ends, state, sequence):
        def body(carry, pair):
            state, total = carry
            x, rows = pair[0] * ends[0], []
            for k in range(layers):
                weight, bias, hidden, cell = weights[2 * k], weights[2 * k + 1], state[2 * k], state[2 * k + 1]
                forget = jax.nn.sigmoid(x * weight[:b] + bias[:b])
                ingate = jax.nn.sigmoid(hidden * weight[b : 2 * b] + bias[b : 2 * b])
                outgate = jax.nn.sigmoid(x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])
                change = jnp.tanh(hidden * weight[3 * b :] + bias[3 * b :])
                cell = cell * forget + ingate * change
                x = outgate * jnp.tanh(cell)
                rows += [x, cell]
            y = x * ends[1] + ends[2]
            return (jnp.stack(rows), total + jnp.sum(pair[1] * (y - jnp.log(jnp.sum(jnp.exp(y)) + 2.0)))), None

        total = jax.lax.scan(wrap(body), (state, 0.0), (sequence[:-1], sequence[1:]))[0][1]
        return -total / ((length - 1) * b)

    return loss
