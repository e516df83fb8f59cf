"""Nonlinear oscillators in a row, coupled by three points: a state of 16 kB, many steps, under keep_all and with 99 and 99.7 % less.

v = 0.9 v − 0.01 sin(θ s) s; s = s + v exp(−w s²); before each step s is smoothed over its neighbours.
"""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program

SIZES = {"1000 × 1000": dict(steps=1000, n=1000), "10,000 × 1000": dict(steps=10_000, n=1000)}
SMALL = dict(steps=2000, n=20)


def program(random, steps, n, budgets=("keep_all", 0.01, 0.003)):
    def loss(s, v, theta, w):
        s = s.copy()
        for t in range(steps):
            s[1:-1] = 0.25 * s[:-2] + 0.5 * s[1:-1] + 0.25 * s[2:]
            v = 0.9 * v - 0.01 * np.sin(theta * s) * s
            s = s + v * np.exp(-w * s * s)
        return np.sum(s * s)

    length = max(k for k in range(1, int(steps**0.5) + 1) if steps % k == 0)
    values = lambda: random.standard_normal(n)
    return Program(
        args=(values(), values(), 1.0 + 0.1 * values(), 1.0 + 0.1 * values()),
        forms={"": loss},
        argnums=(0, 1, 2, 3),
        jax_values={"fori_loop": lambda s, v, theta, w: final(jax.lax.fori_loop(0, steps, lambda t, state: step(state, theta, w), (s, v)))},
        jax_losses={**({"scan": scan(steps)} if "keep_all" in budgets else {}), f"scan, checkpoint {steps // length}×{length}": segments(steps, length)},
        budgets=budgets,
        peers=lambda: others(steps),
        numpy=steps * n < 1e8,
    )


def step(state, theta, w):
    s, v = state
    s = jnp.concatenate([s[:1], 0.25 * s[:-2] + 0.5 * s[1:-1] + 0.25 * s[2:], s[-1:]])
    v = 0.9 * v - 0.01 * jnp.sin(theta * s) * s
    return s + v * jnp.exp(-w * s * s), v


def others(steps):
    import peers

    # Of a hundredth of all states.
    split = lambda f: lambda s, v, theta, w: f((s, v), theta, w)
    losses = peers.equinox_losses(step, final, steps, steps // 100)
    whole = peers.revolve(step, final, steps, steps // 100)
    flat = lambda f: lambda *args: (lambda value, ct: (value, (*ct[0], *ct[1:])))(*f(*args))
    return {who: split(f) for who, f in losses.items()}, {who: flat(split(f)) for who, f in whole.items()}


def final(state):
    return jnp.sum(state[0] ** 2)


def scan(steps):
    return lambda s, v, theta, w: final(jax.lax.scan(lambda state, _: (step(state, theta, w), None), (s, v), None, length=steps)[0])


def segments(steps, length):
    def loss(s, v, theta, w):
        inner = lambda state, _: (step(state, theta, w), None)
        segment = jax.checkpoint(lambda state, _: (jax.lax.scan(inner, state, None, length=length)[0], None))
        return final(jax.lax.scan(segment, (s, v), None, length=steps // length)[0])

    return loss
