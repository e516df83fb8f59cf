"""jacobi_2d of NPBench: two arrays, slices assigned in place; linear, so nothing need be kept."""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np

from contender import Contender, Program, aligned, build, c_call, copied

SIZES = {"M (80 × 350²)": dict(steps=80, n=350), "100 × 250²": dict(steps=100, n=250)}
SMALL = dict(steps=20, n=13)


def program(random, steps, n):
    def loss(A, B):
        A, B = A.copy(), B.copy()
        for t in range(steps):
            B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
            A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
        return np.sum(A)

    return Program(
        args=(random.standard_normal((n, n)), random.standard_normal((n, n))),
        forms={"": loss},
        argnums=(0, 1),
        c=lambda args: c(steps, n, args),
        jax_values={"fori_loop": jax_value(steps), "fori_loop, interiors": jax_value_frame(steps)},
        jax_losses={"scan": jax_scan(steps), "scan, interiors": jax_frame(steps), "scan, checkpoint by 10": jax_segments(steps)},
    )


def c(steps, n, args):
    values, gradients = [], []
    for width in (256, 512):
        library, seconds = build(pathlib.Path(__file__).with_suffix(".c"), f"-mprefer-vector-width={width}")
        a0, b0 = map(copied, args)
        a, b, a_edge, b_edge, da, db = (aligned(n, n) for _ in range(6))
        value = c_call(library.forward, n, steps, a0, b0, a, b)
        gradient = c_call(library.gradient, n, steps, a0, b0, a, b, a_edge, b_edge, da, db)
        values.append(Contender(f"C, {width} bit", lambda call=value: (call(), None), 2 * a.nbytes, seconds))
        gradients.append(Contender(f"C, {width} bit", lambda call=gradient, da=da, db=db: (call(), (da, db)), 6 * a.nbytes, seconds))
    return values, gradients


def five(X):
    return 0.2 * (X[1:-1, 1:-1] + X[1:-1, :-2] + X[1:-1, 2:] + X[2:, 1:-1] + X[:-2, 1:-1])


def both(AB, _=None):
    A, B = AB
    B = B.at[1:-1, 1:-1].set(five(A))
    A = A.at[1:-1, 1:-1].set(five(B))
    return (A, B), None


def frame(A, B, loop):
    """The interiors as carries, put into their constant borders by padding: no scatter in the loop."""
    ring = lambda X: X.at[1:-1, 1:-1].set(0.0)
    ring_a, ring_b = ring(A), ring(B)

    def step(a, _=None):
        b = five(ring_a + jnp.pad(a, 1))
        return five(ring_b + jnp.pad(b, 1)), None

    return jnp.sum(ring_a) + jnp.sum(loop(step, A[1:-1, 1:-1]))


def jax_value(steps):
    return lambda A, B: jnp.sum(jax.lax.fori_loop(0, steps, lambda i, AB: both(AB)[0], (A, B))[0])


def jax_value_frame(steps):
    return lambda A, B: frame(A, B, lambda step, a: jax.lax.fori_loop(0, steps, lambda i, a: step(a)[0], a))


def jax_scan(steps):
    return lambda A, B: jnp.sum(jax.lax.scan(both, (A, B), None, length=steps)[0][0])


def jax_frame(steps):
    return lambda A, B: frame(A, B, lambda step, a: jax.lax.scan(step, a, None, length=steps)[0])


def jax_segments(steps):
    segment = jax.checkpoint(lambda AB, _: (jax.lax.scan(both, AB, None, length=10)[0], None))
    return lambda A, B: jnp.sum(jax.lax.scan(segment, (A, B), None, length=steps // 10)[0][0])
