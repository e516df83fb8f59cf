"""Burgers' equation in two dimensions, 201², 32 steps: backward differences for transport, five points for viscosity, fixed borders."""

import jax
import jax.numpy as jnp
import numpy as np

from contender import Program, hand_written

SIZES = {"32 × 201²": dict(steps=32, n=201)}
SMALL = dict(steps=4, n=9)
NU = 0.01


def program(random, steps, n):
    h = 2.0 / (n - 1)
    transport = 0.05  # dt / h
    viscosity = transport * NU / h

    def loss(u, v):
        u, v = u.copy(), v.copy()
        for t in range(steps):
            a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
            du = a * (a - u[1:-1, :-2]) + b * (a - u[:-2, 1:-1])
            dv = a * (b - v[1:-1, :-2]) + b * (b - v[:-2, 1:-1])
            lu = u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4.0 * a
            lv = v[1:-1, 2:] + v[1:-1, :-2] + v[2:, 1:-1] + v[:-2, 1:-1] - 4.0 * b
            a_new = a - transport * du + viscosity * lu
            b_new = b - transport * dv + viscosity * lv
            u[1:-1, 1:-1] = a_new
            v[1:-1, 1:-1] = b_new
        return np.sum(u * u) + np.sum(v * v)

    x = np.linspace(0.0, 2.0, n)
    bump = lambda cx, cy: 1.0 + np.exp(-10.0 * ((x[:, None] - cx) ** 2 + (x[None, :] - cy) ** 2)) + 0.01 * random.standard_normal((n, n))
    rows = (steps + 1, n, n)
    return Program(
        args=(bump(0.7, 0.8), bump(1.1, 0.9)),
        forms={"": loss},
        argnums=(0, 1),
        c=lambda args: hand_written(__file__, (n, steps, transport, viscosity), args, [rows, rows, (n, n), (n, n)], [(n, n), (n, n)], scratch_value=[(2, n, n), (2, n, n)]),
        jax_values={"fori_loop": value(steps, transport, viscosity)},
        jax_losses={"scan": scan(steps, transport, viscosity), "scan, checkpoint each step": scan(steps, transport, viscosity, jax.checkpoint)},
    )


def step(uv, transport, viscosity):
    u, v = uv
    a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
    du = a * (a - u[1:-1, :-2]) + b * (a - u[:-2, 1:-1])
    dv = a * (b - v[1:-1, :-2]) + b * (b - v[:-2, 1:-1])
    five = lambda x: x[1:-1, 2:] + x[1:-1, :-2] + x[2:, 1:-1] + x[:-2, 1:-1] - 4.0 * x[1:-1, 1:-1]
    inside = lambda x, to: x.at[1:-1, 1:-1].set(to)
    return inside(u, a - transport * du + viscosity * five(u)), inside(v, b - transport * dv + viscosity * five(v))


def squares(uv):
    return jnp.sum(uv[0] ** 2) + jnp.sum(uv[1] ** 2)


def value(steps, transport, viscosity):
    return lambda u, v: squares(jax.lax.fori_loop(0, steps, lambda i, uv: step(uv, transport, viscosity), (u, v)))


def scan(steps, transport, viscosity, wrap=lambda f: f):
    body = wrap(lambda uv, _: (step(uv, transport, viscosity), None))
    return lambda u, v: squares(jax.lax.scan(body, (u, v), None, length=steps)[0])
