"""The programs of the README: a tanh loop, jacobi stencils in place, a scalar Lorenz loop."""

import jax
import jax.numpy as jnp
import numpy as np
from oracle import check, check_jax

import retrograd as rg

rng = np.random.default_rng(1)


def tanh_loop(s, theta):
    for i in range(50):
        s = s + 0.01 * np.tanh(theta * s)
    return np.sum(s**2)


def test_tanh_loop_equals_jax():
    check_jax(tanh_loop, rng.normal(size=100), rng.normal(size=100))


def jacobi(u, f, n):
    for k in range(n):
        u[1:-1] = 0.5 * (u[:-2] + u[2:] + f[1:-1])
    return np.sum(u * u)


def jacobi_jax(u, f, n):
    step = lambda k, u: u.at[1:-1].set(0.5 * (u[:-2] + u[2:] + f[1:-1]))
    return jnp.sum(jax.lax.fori_loop(0, 20, step, u) ** 2)


def test_jacobi_in_place_equals_jax():
    check_jax(jacobi, rng.normal(size=30), rng.normal(size=30), 20, reference=jacobi_jax)


def jacobi_plane(u, n):
    for k in range(n):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return np.sum(np.sin(u))


def jacobi_plane_jax(u, n):
    inner = lambda u: 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return jnp.sum(jnp.sin(jax.lax.fori_loop(0, 10, lambda k, u: u.at[1:-1, 1:-1].set(inner(u)), u)))


def test_jacobi_in_a_plane_equals_jax():
    check_jax(jacobi_plane, rng.normal(size=(7, 9)), 10, reference=jacobi_plane_jax)


def lorenz(x, y, z, n):
    for k in range(n):
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
    return x * y + z


def lorenz_jax(x, y, z, n):
    def step(k, state):
        x, y, z = state
        return (x + 0.01 * (10.0 * (y - x)), y + 0.01 * (x * (28.0 - z) - y), z + 0.01 * (x * y - 8.0 / 3.0 * z))

    x, y, z = jax.lax.fori_loop(0, 100, step, (x, y, z))
    return x * y + z


def test_lorenz_of_scalars_equals_jax():
    found = rg.value_and_grad(lorenz, argnums=(0, 1, 2))(1.0, 2.0, 3.0, 100)
    expected = jax.value_and_grad(lambda x, y, z: lorenz_jax(x, y, z, 100), argnums=(0, 1, 2))(1.0, 2.0, 3.0)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-11)
    check(lorenz, 1.0, 2.0, 3.0, 100, tolerance=1e-11)


def double_buffer(u, n):
    new = np.zeros_like(u)
    for k in range(n):
        new[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, new = new, u
    return np.sum(u * u) + np.sum(new)


def test_exchanged_buffers():
    for n in (0, 1, 2, 7):
        check(double_buffer, rng.normal(size=6), n)
