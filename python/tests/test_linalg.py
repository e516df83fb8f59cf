"""Linear algebra, einsum and products on traced arrays, against NumPy and JAX."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
import pytest
from oracle import check, check_jax, check_value, close, collector, same_bits

import retrograd as rg

rng = np.random.default_rng(7)
m4, v4, b42 = rng.normal(size=(4, 4)) + 3.0 * np.eye(4), rng.normal(size=4), rng.normal(size=(4, 2))
batch = rng.normal(size=(2, 3, 3)) + 2.0 * np.eye(3)
right = rng.normal(size=(2, 3, 2))
m23, m34, t234 = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 3, 4))

CASES, case = collector()


@case(batch, right[0, :, 0].copy())
def crosses(m, v):
    return np.sum(np.cross(m[:, :, 1], m[:, :, 2]) * m[:, :, 0]) + np.sum(np.cross(m, v, axisa=1) ** 2) + np.sum(np.cross(m[0], m[1], axis=0) ** 3)


@case(m4)
def cholesky_of_product(m):
    # JAX takes the mean of both triangles, NumPy and we read one: they agree where the matrix is symmetric.
    l = np.linalg.cholesky(m @ m.T + np.eye(4))
    return np.sum(l**2 * np.arange(16.0).reshape(4, 4)) + np.sum(np.sin(l))


@case(batch)
def cholesky_of_batch(m):
    return np.sum(np.linalg.cholesky(m @ np.swapaxes(m, -1, -2) + np.eye(3)) ** 3)


@case(m4, v4, b42)
def solves(a, v, b):
    return np.sum(np.linalg.solve(a, v) ** 2) + np.sum(np.sin(np.linalg.solve(a, b)))


@case(batch, right, rng.normal(size=3))
def solves_of_batches(a, b, v):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.solve(a[0], b) ** 3) + np.sum(np.linalg.solve(a, b[0]) * b) + np.sum(np.linalg.solve(a, v) ** 2)


@case(batch)
def inverses(a):
    return np.sum(np.linalg.inv(a) ** 2 * a)


@case(batch, m4)
def determinants(a, m):
    return np.sum(np.linalg.det(a) ** 2) + np.linalg.det(m)


@case(batch, m4)
def log_determinants(a, m):
    sign, logdet = np.linalg.slogdet(a)
    return np.sum(sign * logdet**2) + np.linalg.slogdet(-m).logabsdet + np.linalg.slogdet(m[:3, :3])[0]


tall = rng.normal(size=(2, 5, 3))


@case(tall)
def orthogonal_factors(a):
    q, r = np.linalg.qr(a[0])
    return np.sum(np.sin(q) * a[1]) + np.sum(r**3) + np.sum(np.linalg.qr(a).Q ** 3) + np.sum(np.linalg.qr(a[:, :3], mode="r") ** 2 * a[:, 1:4])


@case(m23, m34, t234)
def einsums(a, b, t):
    return (
        np.sum(np.einsum("ij,jk->ki", a, b) ** 2)
        + np.sum(np.einsum("ij,jk", a, b) ** 3)
        + np.sum(np.einsum("ijk,ij,jk->k", t, a, b) ** 2)
        + np.sum(np.einsum("ijk->kj", t) ** 2)
        + np.einsum("ijk,jk,ij->", t, b, a)
        + np.sum(np.einsum("ij,kl->ijkl", a, b)[0] ** 2)
        + np.sum(np.einsum("ij,ij->ij", a, a) * a)
        + np.sum(np.einsum("bij,bjk->bik", t, t.reshape(2, 4, 3)) ** 2)
    )


@case(m4, rng.normal(size=(2, 3, 2, 3)))
def einsum_diagonals(m, x):
    return np.einsum("ii", m) ** 2 + np.sum(np.einsum("ii->i", m) ** 3) + np.sum(np.einsum("ijij->j", x) ** 2) + np.sum(np.einsum("ijik->kj", x) ** 2) + np.einsum("ijij", x)


@case(m23, m34, m4, v4)
def einsum_of_many(a, b, m, v):
    return np.einsum("ij,jk,kl,lm,mn,n,ij->", a, b, m, m, m, v, a) + np.sum(np.einsum("ij,jk,kl,l,km,mn->in", a, b, m, v, m, m) ** 2)


@case(t234, m34, m23, v4)
def products(t, b, a, v):
    return (
        np.sum(np.tensordot(t, b, axes=2) ** 2)
        + np.sum(np.tensordot(t, b, axes=([2, 1], [1, 0])) ** 3)
        + np.sum(np.tensordot(a, b, axes=1) ** 2)
        + np.sum(np.tensordot(t, v, axes=(-1, 0)) ** 2)
        + np.sum(np.outer(a, v) ** 3)
        + np.sum(np.inner(t, b) ** 2)
        + np.inner(v, v) * np.vdot(a, a)
        + np.sum(np.inner(a, 2.0))
    )


@case(m34, t234)
def traces(a, t):
    return np.trace(a) ** 2 + np.sum(np.trace(t, axis1=1, axis2=2) ** 2) + np.sum(t.trace() ** 3)


@pytest.mark.parametrize("f, args", CASES)
def test_equals_jax(f, args):
    check_jax(f, *args, tolerance=1e-10)


@pytest.mark.parametrize("f, args", CASES)
def test_machine_code_gives_the_interpreters_bits(f, args):
    same_bits(f, *args)


@pytest.mark.parametrize("f, args", [pytest.param(*c.values, id=c.id) for c in CASES if c.id in ("solves", "inverses", "determinants", "einsums", "traces")])
def test_equals_complex_step(f, args):
    check(f, *args, tolerance=1e-10)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_solves_equal_jax(lower, trans, unit):
    def f(a, b, v):
        return np.sum(rg.triangular_solve(a, b, lower=lower, trans=trans, unit_diagonal=unit) ** 2) + np.sum(rg.triangular_solve(a, v, lower, trans, unit) ** 3)

    def reference(a, b, v):
        solve = lambda b: jax.scipy.linalg.solve_triangular(a, b, lower=lower, trans=int(trans), unit_diagonal=unit)
        return jnp.sum(solve(b) ** 2) + jnp.sum(solve(v) ** 3)

    check_jax(f, m4, b42, v4, reference=reference, tolerance=1e-10)


def test_triangular_factors_equal_jax():
    def f(a, m):
        factors, rows = rg.lu(m)
        return np.sum(factors**2 * np.arange(16.0).reshape(4, 4)) + np.sum(np.take_along_axis(m, rows[:, None], 0)[0] ** 3) + np.sum(np.sin(rg.lu(a)[0]))

    def reference(a, m):
        factors, _, rows = jax.lax.linalg.lu(m)
        return jnp.sum(factors**2 * jnp.arange(16.0).reshape(4, 4)) + jnp.sum(m[rows][0] ** 3) + jnp.sum(jnp.sin(jax.lax.linalg.lu(a)[0]))

    check_jax(f, batch[:, ::-1].copy(), m4[::-1].copy(), reference=reference, tolerance=1e-10)


def test_factors_of_more_columns_than_rows():
    def f(a):
        q, r = np.linalg.qr(a)
        return np.sum(q**3) + np.sum(np.sin(r))

    def shapes(a):
        return np.linalg.qr(a)

    assert [x.shape for x in rg.jit(shapes)(m34)] == [(3, 3), (3, 4)]
    close(rg.jit(f)(m34), f(m34))
    rg.check_grads(f, (m34,), order=2)


def test_cholesky_reads_one_triangle():
    def f(a):
        return np.sum(np.linalg.cholesky(a) ** 2 * np.arange(9.0).reshape(3, 3)) + np.sum(np.sin(np.linalg.cholesky(a, upper=True)))

    lower, upper = np.array([[1.0, 0, 0], [2.0, 4.25, 0], [3.0, 5.5, 10.0625]]), np.array([[0, 0.1, -0.3], [0, 0, 0.2], [0, 0, 0]])
    a = lower + upper
    gradient = rg.grad(f)(a)
    for index in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[index] = 1e-5
        close(gradient[index], (f(a + step) - f(a - step)) / 2e-5, 1e-6)


def inverse(a):
    return np.linalg.inv(a)


def factor(a):
    return np.linalg.cholesky(a)


def determinant(a):
    return np.linalg.det(a)


def sign_and_logdet(a):
    return np.linalg.slogdet(a)


def test_determinants_of_matrices_without_an_inverse():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert rg.jit(sign_and_logdet)(singular)[1] == -np.inf
    close(rg.grad(determinant)(singular), [[4.0, -2.0], [-2.0, 1.0]])


def test_sign_of_a_determinant_that_underflows():
    check_value(sign_and_logdet, -1e-3 * np.eye(301))


def test_factors_in_a_loop_under_a_budget():
    def f(a, b):
        for k in range(20):
            l = np.linalg.cholesky(a @ a.T + np.eye(3))
            b = np.tanh(rg.triangular_solve(l, b)) + 0.1 * np.linalg.solve(a, b)
        return np.sum(b**2)

    def reference(a, b):
        for k in range(20):
            l = jnp.linalg.cholesky(a @ a.T + jnp.eye(3))
            b = jnp.tanh(jax.scipy.linalg.solve_triangular(l, b, lower=True)) + 0.1 * jnp.linalg.solve(a, b)
        return jnp.sum(b**2)

    a, b = batch[0], right[0]
    check_jax(f, a, b, reference=reference, tolerance=1e-10)
    kept = rg.value_and_grad(f, argnums=(0, 1), strategy=rg.keep_all())(a, b)
    for strategy in (rg.revolve(), rg.periodic(4)):
        other = rg.value_and_grad(f, argnums=(0, 1), strategy=strategy)(a, b)
        np.testing.assert_array_equal(other[1][0], kept[1][0])
        np.testing.assert_array_equal(other[1][1], kept[1][1])


def test_known_arrays_are_computed_by_numpy():
    def f(x):
        weights = np.linalg.inv(np.array([[2.0, 1.0], [1.0, 3.0]])) @ np.outer([1.0, 2.0], [3.0, 4.0])
        return np.einsum("ij,j->i", weights, x) * np.trace(weights) + np.linalg.det(np.eye(2) * float(np.vdot([1.0, 2.0], [3.0, 4.0])))

    check_value(f, v4[:2])


MISTAKES = []


def mistake(error, words):
    def keep(f):
        MISTAKES.append(pytest.param(f, error, words, id=f.__name__))
        return f

    return keep


@mistake(rg.ShapeError, "name every axis")
def ellipsis_in_einsum(x):
    return np.einsum("i...->i", x)


@mistake(rg.ShapeError, "`j`")
def extents_that_differ(x):
    return np.einsum("ij,jk", x, x[:2])


@mistake(rg.ShapeError, "square")
def matrix_that_is_not_square(x):
    return np.linalg.det(x[:2])


@mistake(rg.Unsupported, "complete")
def all_columns_of_q(x):
    return np.linalg.qr(x, mode="complete")


@mistake(rg.ShapeError, "right side")
def right_side_of_other_rows(x):
    return np.linalg.solve(x, x[:2])


@mistake(rg.Unsupported, "np.linalg.eig")
def function_that_is_not_there(x):
    return np.linalg.eig(x)


@mistake(rg.ShapeError, "two axes")
def trace_of_one_axis(x):
    return np.trace(x, offset=1, axis1=0, axis2=0)


@mistake(rg.ShapeError, "paired")
def axes_without_a_partner(x):
    return np.tensordot(x, x, axes=([0], [0, 1]))


@mistake(rg.ShapeError, "axis 5")
def axis_that_is_not_there(x):
    return np.tensordot(x, x, axes=([5], [0]))


@pytest.mark.parametrize("f, error, words", MISTAKES)
def test_mistakes_are_errors_at_the_users_line(f, error, words):
    with pytest.raises(error, match=words) as raised:
        rg.jit(f)(m4)
    assert "test_linalg.py" in str(raised.value)


def test_a_view_that_einsum_returns_is_not_changed_silently():
    def f(a):
        b = a * 1.0
        d = np.einsum("ii->i", b)
        d[0] = 5.0
        return np.sum(b)

    with pytest.raises(rg.Unsupported, match="share memory"):
        rg.jit(f)(m4)
