"""100 bodies under softened gravity, 100 symplectic Euler steps: all pairs each step; gradient by positions, velocities and masses."""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np

from contender import Contender, Program, aligned, build, c_call

SIZES = {"100 × 100": dict(n=100, steps=100)}
SMALL = dict(n=5, steps=6)
DT, SOFTENING = 0.001, 0.01


def program(random, n, steps):
    def loss(x, v, m):
        for t in range(steps):
            d = x[None, :, :] - x[:, None, :]
            r2 = np.sum(d * d, axis=2) + SOFTENING
            w = m[None, :] * r2**-1.5
            v = v + DT * np.sum(w[:, :, None] * d, axis=1)
            x = x + DT * v
        return np.sum(x * x) + np.sum(v * v)

    return Program(
        args=(random.standard_normal((n, 3)), 0.1 * random.standard_normal((n, 3)), random.uniform(0.5, 1.5, n)),
        forms={"": loss},
        argnums=(0, 1, 2),
        c=lambda args: c(n, steps, args),
        jax_values={"fori_loop": value(steps), "fori_loop, components": value(steps, acceleration_by_components)},
        jax_losses={
            "scan": scan(steps),
            "scan, checkpoint each step": scan(steps, wrap=jax.checkpoint),
            "scan, components, checkpoint each step": scan(steps, acceleration_by_components, jax.checkpoint),
        },
    )


def c(n, steps, args):
    """Arrays of C are (3, bodies), the bodies filled up to whole vectors with bodies of no mass."""
    library, seconds = build(pathlib.Path(__file__).with_suffix(".c"), "-fno-math-errno")  # or roots are taken one by one
    padded = -(-n // 8) * 8
    x, v, dx, dv = (aligned(3, padded) for _ in range(4))
    m, dm = aligned(padded), aligned(padded)
    x[:, :n], v[:, :n], m[:n] = args[0].T, args[1].T, args[2]
    tape, xs, vs = aligned(steps, 3, padded), aligned(3, padded), aligned(3, padded)
    forward = c_call(library.forward, n, steps, DT, SOFTENING, x, v, m, xs, vs)
    backward = c_call(library.gradient, n, steps, DT, SOFTENING, x, v, m, xs, vs, tape, dx, dv, dm)
    values = [Contender("C", lambda: (forward(), None), xs.nbytes + vs.nbytes, seconds)]
    taken = sum(array.nbytes for array in (xs, vs, tape, dx, dv, dm))
    return values, [Contender("C, keeps positions", lambda: (backward(), (dx[:, :n].T, dv[:, :n].T, dm[:n])), taken, seconds)]


def acceleration(x, m):
    d = x[None, :, :] - x[:, None, :]
    r2 = jnp.sum(d * d, axis=2) + SOFTENING
    return jnp.sum((m[None, :] * r2**-1.5)[:, :, None] * d, axis=1)


def acceleration_by_components(x, m):
    d = [x[None, :, k] - x[:, None, k] for k in range(3)]
    r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING
    w = m[None, :] / (r2 * jnp.sqrt(r2))
    return jnp.stack([jnp.sum(w * one, axis=1) for one in d], axis=1)


def step(state, m, force):
    x, v = state
    v = v + DT * force(x, m)
    return x + DT * v, v


def squares(state):
    return jnp.sum(state[0] ** 2) + jnp.sum(state[1] ** 2)


def value(steps, force=acceleration):
    return lambda x, v, m: squares(jax.lax.fori_loop(0, steps, lambda i, state: step(state, m, force), (x, v)))


def scan(steps, force=acceleration, wrap=lambda f: f):
    def loss(x, v, m):
        return squares(jax.lax.scan(wrap(lambda state, _: (step(state, m, force), None)), (x, v), None, length=steps)[0])

    return loss
