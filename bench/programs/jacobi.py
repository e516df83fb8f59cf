"""jacobi_2d of NPBench, 100 steps on 250 × 250: two arrays, slices assigned in place; linear, so nothing need be kept."""

import pathlib

import numpy as np
import jax
import jax.numpy as jnp

from contender import Contender, aligned, build, c_call, copied

NAME = "jacobi 2-d"
STEPS, N = 100, 250
ARGNUMS = (0, 1)
BUDGETS = [None]


def loss(A, B):
    for t in range(100):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return np.sum(A)


def arguments(random):
    return random.standard_normal((N, N)), random.standard_normal((N, N))


def c(args):
    """(contenders for the value, contenders for the gradient)"""
    values, gradients = [], []
    for width in (256, 512):
        library, seconds = build(pathlib.Path(__file__).with_suffix(".c"), f"-mprefer-vector-width={width}")
        a0, b0 = map(copied, args)
        a, b, a_edge, b_edge, da, db = (aligned(N, N) for _ in range(6))
        value = c_call(library.forward, N, STEPS, a0, b0, a, b)
        gradient = c_call(library.gradient, N, STEPS, a0, b0, a, b, a_edge, b_edge, da, db)
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


def jax_value(A, B):
    return jnp.sum(jax.lax.fori_loop(0, STEPS, lambda i, AB: both(AB)[0], (A, B))[0])


def jax_value_frame(A, B):
    return frame(A, B, lambda step, a: jax.lax.fori_loop(0, STEPS, lambda i, a: step(a)[0], a))


def jax_scan(A, B):
    return jnp.sum(jax.lax.scan(both, (A, B), None, length=STEPS)[0][0])


def jax_frame(A, B):
    return frame(A, B, lambda step, a: jax.lax.scan(step, a, None, length=STEPS)[0])


def jax_segments(A, B):
    segment = jax.checkpoint(lambda AB, _: (jax.lax.scan(both, AB, None, length=10)[0], None))
    return jnp.sum(jax.lax.scan(segment, (A, B), None, length=STEPS // 10)[0][0])


JAX_VALUES = {"fori_loop": jax_value, "fori_loop, interiors": jax_value_frame}
JAX_LOSSES = {"scan": jax_scan, "scan, interiors": jax_frame, "scan, checkpoint 10×10": jax_segments}
