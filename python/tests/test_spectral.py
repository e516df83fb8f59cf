"""Eigenvalues, singular values and their vectors on traced arrays: against JAX and differences, where values coincide, in loops, batches and budgets."""

import jax.numpy as jnp
import numpy as np
import pytest
from oracle import check_jax, close, collector, same_bits

import retrograd as rg

rng = np.random.default_rng(12)
m4 = rng.normal(size=(4, 4))
m53, m35 = rng.normal(size=(5, 3)), rng.normal(size=(3, 5))
batch = rng.normal(size=(3, 4, 4))

CASES, case = collector()


# JAX takes the mean of both triangles, NumPy and we read one: they agree where the matrix is symmetric. Functions are those of vectors without signs.


@case(m4, batch)
def eigenvalues(a, b):
    return np.sum(np.linalg.eigvalsh(a + a.T) ** 3) + np.sum(np.sin(np.linalg.eigvalsh(b @ np.swapaxes(b, -1, -2))))


@case(m4, batch)
def eigenvectors(a, b):
    w, v = np.linalg.eigh(a + a.T)
    last = np.linalg.eigh(b + np.swapaxes(b, -1, -2))[1][..., -1]
    return np.sum(v**4 * w) + np.sum((v * np.exp(w)) @ v.T * a) + np.sum(last**4)


@case(m53, m35, batch)
def singular(a, b, c):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    left, values, right = np.linalg.svd(b, full_matrices=False)
    return np.sum(u**4) + np.sum(vh**4 * s[:, None]) + np.sum((left * np.sin(values)) @ right * b) + np.sum(np.linalg.svd(c, compute_uv=False) ** 3)


@case(m53, m35, batch)
def norms_and_inverses(a, b, c):
    norms = np.linalg.norm(a, 2) + np.linalg.norm(b, -2) + np.linalg.norm(a, "nuc") + np.linalg.cond(c + 4.0 * np.diag(np.arange(1.0, 5.0)))[1] + np.sum(np.linalg.norm(c, "nuc", axis=(1, 2)))
    return norms + np.sum(np.linalg.pinv(a)) + np.sum(np.sin(np.linalg.pinv(b))) + np.sum(np.linalg.lstsq(a, np.sin(a[:, 0]), rcond=None)[0])


@pytest.mark.parametrize("f, args", CASES)
def test_equals_jax(f, args):
    check_jax(f, *args, tolerance=1e-9)


@pytest.mark.parametrize("f, args", CASES)
def test_machine_code_gives_the_interpreters_bits(f, args):
    same_bits(f, *args)


@pytest.mark.parametrize("f, args", CASES)
def test_derivatives_to_order_2(f, args):
    rg.check_grads(f, args, order=2)


@pytest.mark.parametrize("f, args", CASES)
def test_in_float32(f, args):
    few = [arg.astype(np.float32) for arg in args]
    found, expected = rg.value_and_grad(f)(*few), rg.value_and_grad(f)(*args)
    assert found[1].dtype == np.float32
    close(found[1], expected[1], 2e-3)


def test_one_triangle_is_read():
    def lower(a):
        return np.sum(np.linalg.eigvalsh(a) ** 3)

    def upper(a):
        return np.sum(np.abs(np.linalg.eigh(a, "U")[1]) * a)

    for f in (lower, upper):
        gradient = rg.grad(f)(m4)
        for index in np.ndindex(4, 4):
            step = np.zeros((4, 4))
            step[index] = 1e-5
            close(gradient[index], (f(m4 + step) - f(m4 - step)) / 2e-5, 1e-6)


def turned(values):
    """The symmetric matrix with these eigenvalues."""
    q = np.linalg.qr(np.random.default_rng(3).normal(size=(len(values),) * 2))[0]
    a = q @ np.diag(values) @ q.T
    return 0.5 * (a + a.T)


def refused(f, *args, transform=rg.grad):
    with pytest.raises(np.linalg.LinAlgError) as raised:
        transform(f)(*args)
    assert "test_spectral.py" in str(raised.value) and ("coincide" in str(raised.value) or "depend on each other" in str(raised.value))


def differences(f, a):
    gradient = np.zeros(a.shape)
    for index in np.ndindex(*a.shape):
        step = np.zeros(a.shape)
        step[index] = 1e-4
        gradient[index] = (f(a + step) - f(a - step)) / 2e-4
    return gradient


# What of a matrix is smooth also where values coincide.
SMOOTH = {
    "sum of squares": lambda a: np.sum(np.linalg.eigvalsh(a) ** 2),
    "sum of exponentials": lambda a: np.sum(np.exp(np.linalg.eigvalsh(a))),
    "log of the determinant": lambda a: np.sum(np.log(np.linalg.eigvalsh(a))),
    "sum of squared singular values": lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 2),
    "nuclear norm": lambda a: np.linalg.norm(a, "nuc"),
    "polar factor": lambda a: np.sum(rg.linalg.polar(a)[0] * m4[:3, :3]),
    "pseudoinverse": lambda a: np.sum(np.linalg.pinv(a) * m4[:3, :3]),
    "procrustes": lambda a: rg.linalg.polar(a @ a)[0][0, 1] + np.sum(rg.linalg.polar(a)[1] ** 2),
}


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [2.0, 2.0, 0.5], [1.0, 1.0 + 3e-16, 3.0]])
@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_smooth_has_its_gradient_where_values_coincide(name, values):
    f = SMOOTH[name]
    for a in (turned(values), np.diag(values)):
        close(rg.grad(f)(a), differences(f, a), 1e-6)


# What is not, or cannot be known to be.
ROUGH = {
    "least eigenvalue": lambda a: np.linalg.eigvalsh(a)[0],
    "eigenvalues with weights": lambda a: np.sum(np.linalg.eigvalsh(a) * np.arange(3.0)),
    "spectral norm": lambda a: np.linalg.norm(a, 2),
    "condition": lambda a: np.linalg.cond(a),
    "vector": lambda a: np.linalg.eigh(a)[1][0, 0],
    "sum of vectors": lambda a: np.sum(np.linalg.eigh(a)[1] ** 4),
    "left vectors": lambda a: np.sum(np.linalg.svd(a)[0] ** 4),
    "right vectors": lambda a: np.sum(np.linalg.svd(a)[2] ** 4),
    # Smooth, but a rule for vectors cannot know: V log(Λ) Vᵀ, whose cotangent of V is zero at the identity.
    "logarithm": lambda a: logarithm(a)[0, 1],
    "sum of a logarithm": lambda a: np.sum(logarithm(a)),
    "function of a Rayleigh quotient": lambda a: np.sum(rayleigh(a)),
}


def logarithm(a):
    w, v = np.linalg.eigh(a)
    return (v * np.log(w)) @ v.T


def rayleigh(a):
    v = np.linalg.eigh(a)[1]
    return (v * (np.sum(v * (a @ v), axis=0) - 1.0)) @ v.T


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0 + 4e-16]])
@pytest.mark.parametrize("name", ROUGH)
def test_what_is_not_smooth_is_an_error_where_values_coincide(name, values):
    for a in (turned(values), np.diag(values)):
        refused(ROUGH[name], a)


@pytest.mark.parametrize("name", ["least eigenvalue", "sum of vectors", "left vectors", "logarithm"])
def test_what_is_not_smooth_is_an_error_in_forward_mode_too(name):
    direction = m4[:3, :3]
    refused(lambda a: rg.jvp(ROUGH[name], (a,), (direction,)), np.eye(3), transform=lambda f: f)


def test_forward_mode_moves_values_that_move_alike():
    def f(a):
        return np.linalg.eigvalsh(a)

    close(rg.jvp(f, (np.eye(3),), (2.0 * np.eye(3),))[1], [2.0, 2.0, 2.0])


def test_vectors_of_simple_values_have_a_gradient_beside_values_that_coincide():
    a = turned([1.0, 1.0, 1.0, 5.0, 7.0])

    def top(a):
        return np.linalg.eigh(a)[1][:, -1] ** 4 @ np.arange(5.0)

    def two(a):
        v = np.linalg.eigh(a)[1][:, 3:]
        return np.sum((v @ v.T) ** 3)

    def least(a):
        return np.linalg.svd(a)[2][0] ** 4 @ np.arange(5.0)

    for f in (top, two, least):
        close(rg.grad(f)(a), differences(f, a), 1e-6)

    def bottom(a):
        v = np.linalg.eigh(a)[1][:, :3]
        return np.sum((v @ v.T) ** 3)

    refused(bottom, a)


def test_on_request_what_has_no_derivative_is_zero():
    def projection(a):
        v = rg.linalg.eigh(a, degenerate="zero")[1][:, :3]
        return np.sum((v @ v.T) ** 3)

    def low_rank(a):
        u, s, vh = rg.linalg.svd(a, full_matrices=False, degenerate="zero")
        return np.sum((u[:, :3] @ u[:, :3].T) ** 3)

    a = turned([1.0, 1.0, 1.0, 5.0, 7.0])
    close(rg.grad(projection)(a), differences(projection, a), 1e-6)
    b = turned([7.0, 7.0, 7.0, 2.0, 1.0])
    close(rg.grad(low_rank)(b), differences(low_rank, b), 1e-6)
    with pytest.raises(rg.ArgumentError, match="degenerate"):
        rg.grad(lambda a: np.sum(rg.linalg.eigh(a, degenerate="ignore")[0]))(a)


def test_zero_singular_values():
    a = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5])
    close(rg.grad(lambda a: np.linalg.norm(a, 2))(a), differences(lambda a: np.linalg.norm(a, 2), a), 1e-6)
    close(rg.grad(lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 2))(a), 2.0 * a, 1e-12)
    refused(lambda a: np.linalg.norm(a, "nuc"), a)
    refused(lambda a: np.linalg.norm(a, -2), a)
    refused(lambda a: np.sum(rg.linalg.polar(a)[0]), a)
    # Right vectors of a tall matrix have one at a single zero: the plane of points that lie in one.
    points = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 3))
    normal = lambda p: np.linalg.svd(p)[2][-1] ** 4 @ np.arange(3.0)
    close(rg.grad(normal)(points), differences(normal, points), 1e-5)


def test_all_vectors_of_the_longer_side():
    def normal(a):
        return np.sum(np.linalg.svd(a)[0][:, -1] ** 4 * np.arange(4.0))

    def whole(a):
        return np.linalg.svd(a)[0]

    def thin(a):
        return np.sum(np.linalg.svd(a)[0][:, :3] ** 4)

    close(rg.grad(normal)(m53[:4]), differences(normal, m53[:4]), 1e-6)
    u = rg.jit(whole)(m53)
    close(u.T @ u, np.eye(5), 1e-13)
    close(rg.grad(thin)(m53), differences(thin, m53), 1e-6)
    # The two columns that are left over are any basis.
    refused(lambda a: np.sum(np.linalg.svd(a)[0][:, 3:] ** 4), m53)


def test_rank_deficient_least_squares():
    def f(b):
        return np.linalg.lstsq(np.outer([1.0, 2.0, 3.0], [1.0, 1.0]) + 0.0 * b[0], b, rcond=1e-9)[0]

    b = np.array([1.0, 0.0, 2.0])
    close(rg.jit(f)(b), f(b))
    close(rg.jacobian(lambda b: f(b))(b), np.linalg.pinv(np.outer([1.0, 2.0, 3.0], [1.0, 1.0]), rcond=1e-9), 1e-9)


def test_what_is_not_finite_is_numpys_error():
    def f(a):
        return np.linalg.eigh(a)[0]

    def g(a):
        return np.linalg.svd(a)[1]

    def caught(a):
        try:
            s = np.linalg.svd(a)[1][0]
        except np.linalg.LinAlgError:
            s = -1.0
        return s

    bad = np.array([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError, match="converge"):
        rg.jit(f)(bad.T.copy())
    with pytest.raises(np.linalg.LinAlgError, match="converge"):
        rg.jit(g)(bad)
    assert rg.jit(caught)(bad) == -1.0 and rg.jit(caught)(np.eye(2)) == 1.0
    assert rg.jit(lambda a: np.linalg.eigh(a)[0].shape)(np.zeros((0, 0))) == (0,)


def loop(a, x):
    """Subspace iteration whose steps decompose."""
    for k in range(12):
        w, v = np.linalg.eigh(a @ a.T + np.diag(x**2))
        u, s, vh = np.linalg.svd(a + 0.1 * np.outer(x, v[:, -1]), full_matrices=False)
        x = np.tanh(v[:, 0] ** 2 * w[-1] * 0.3 + 0.1 * (u @ vh) @ x + np.log(1.0 + s))
    return np.sum(x**2)


def test_in_a_loop_under_every_budget_with_the_same_bits():
    a, x = m4 + 2.0 * np.diag([1.0, 2.0, 3.0, 4.0]), rng.normal(size=4)
    rg.check_grads(loop, (a, x), order=2)
    same_bits(loop, a, x)
    kept = rg.value_and_grad(loop, argnums=(0, 1), strategy=rg.keep_all())(a, x)
    for options in ({"strategy": rg.revolve()}, {"strategy": rg.periodic(4)}, {"strategy": rg.recompute_all()}, {"threads": 2}, {"budget": "20 kB"}):
        other = rg.value_and_grad(loop, argnums=(0, 1), **options)(a, x)
        np.testing.assert_array_equal(other[0], kept[0])
        [np.testing.assert_array_equal(p, q) for p, q in zip(other[1], kept[1])]


def test_a_degenerate_step_of_a_loop_is_an_error():
    def f(x):
        total = 0.0
        for k in range(4):
            a = np.diag(np.array([1.0, 2.0, 3.0])) * (3 - k) + x * np.ones((3, 3)) * (3 - k)
            total = total + np.linalg.eigvalsh(a)[0]
        return total

    refused(f, 0.3)


def test_vmap():
    def f(a):
        w, v = np.linalg.eigh(a + a.T)
        return np.sum(np.sin(w)) + np.sum(v**4) + np.linalg.norm(a, 2) + np.sum(rg.linalg.polar(a)[0] * a) + np.sum(np.linalg.pinv(a))

    found = rg.vmap(rg.grad(f))(batch)
    for one, a in zip(found, batch):
        close(one, rg.grad(f)(a), 1e-12)
    close(rg.vmap(f)(batch), [f(a) for a in batch], 1e-10)


def test_hessian_equals_differences_of_gradients():
    def f(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v * np.exp(w)) @ v.T * m4) + np.linalg.norm(a, "nuc")

    a = m4 + m4.T
    hessian, gradient = rg.hessian(f)(a), rg.grad(f)
    for index in np.ndindex(4, 4):
        step = np.zeros((4, 4))
        step[index] = 1e-5
        close(hessian[index], (gradient(a + step) - gradient(a - step)) / 2e-5, 1e-5)


@pytest.mark.parametrize("n", [60, 200])
def test_some_hundred_rows(n):
    a = np.random.default_rng(n).normal(size=(n, n))

    def f(a):
        w, v = np.linalg.eigh(a + a.T)
        return w, np.abs(v), np.linalg.svd(a, compute_uv=False)

    for found, expected in zip(rg.jit(f)(a), f(a)):
        close(found, expected, 1e-10)


def test_polar_equals_jax():
    def f(a, b):
        u, p = rg.linalg.polar(a)
        v, q = rg.linalg.polar(b, side="left")
        return np.sum(u * a**2) + np.sum(p**3) + np.sum(v**3) + np.sum(q**2)

    def reference(a, b):
        u, _, vh = jnp.linalg.svd(a, full_matrices=False)
        p = (vh.T * jnp.linalg.svd(a, compute_uv=False)) @ vh
        w, s, xh = jnp.linalg.svd(b, full_matrices=False)
        return jnp.sum((u @ vh) * a**2) + jnp.sum(p**3) + jnp.sum((w @ xh) ** 3) + jnp.sum(((w * s) @ w.T) ** 2)

    check_jax(f, m53, m35, reference=reference, tolerance=1e-9)
    rg.check_grads(f, (m53, m35), order=2)


# Random matrices against NumPy, and against formulas of the derivatives that need no vectors of their own.


def values_of(rng, n, kind):
    """Eigenvalues or singular values that are apart, repeated, 0, 1, nearly the same, or partly 0."""
    x = 2.0 * rng.normal(size=n)
    if kind == "repeated":
        x = rng.choice(2.0 * rng.normal(size=max(1, n // 2)), size=n)
    elif kind in ("zero", "identity"):
        x = np.full(n, float(kind == "identity"))
    elif kind == "near" and n > 1:
        x[1] = x[0] + 1e-9
    elif kind == "rank":
        x[rng.random(n) < 0.5] = 0.0
    return x


def with_values(rng, m, n, kind):
    """A matrix with such singular values, and the symmetric one of n rows with such eigenvalues."""
    turn = lambda k: np.linalg.qr(rng.normal(size=(k, k)))[0] if kind not in ("zero", "identity") else np.eye(k)
    values, middle = values_of(rng, min(m, n), kind), np.zeros((m, n))
    np.fill_diagonal(middle, values)
    q, w = turn(n), values_of(rng, n, kind)
    symmetric = q @ np.diag(w) @ q.T
    return turn(m) @ middle @ turn(n), 0.5 * (symmetric + symmetric.T)


def lower(g):
    """The gradient in the lower triangle of what is symmetric."""
    return np.tril(g) + np.tril(g.T, -1)


def through_vectors(a, c):
    """Σ c sin(A), and its gradient by divided differences without a difference (Daleckii and Krein)."""
    w, v = np.linalg.eigh(a)
    divided = np.cos((w[:, None] + w) / 2) * np.sinc((w[:, None] - w) / (2 * np.pi))
    return lower(v @ (divided * (v.T @ (c + c.T) @ v / 2)) @ v.T)


def polar_gradient(a, c):
    """That of Σ c U for the polar factor U, from NumPy's decomposition of a tall matrix."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    x = u.T @ c @ vh.T
    return u @ ((x - x.T) / (s[:, None] + s)) @ vh + (c - u @ (u.T @ c)) @ (vh.T / s) @ vh


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.slow if seed >= 30 else ()) for seed in range(200)])
def test_random_matrices_have_numpys_decompositions(seed, dtype):
    rng = np.random.default_rng(seed)
    (m, n), kind = rng.integers(0, 9, 2), ("apart", "repeated", "zero", "identity", "near", "rank")[seed % 6]
    a, s = (x.astype(dtype) for x in with_values(rng, m, n, kind))
    other, b, k = np.triu(rng.normal(size=(n, n)), 1).astype(dtype), rng.normal(size=m).astype(dtype), min(m, n)
    tolerance, cutoff = 300 * np.finfo(dtype).eps, 1e-4 if dtype == np.float32 else 1e-8

    def symmetric(s, t):
        u, sizes, vh = np.linalg.svd(s, hermitian=True)
        return np.linalg.eigh(s), np.linalg.eigvalsh(t, "U"), sizes, (u * sizes) @ vh, np.linalg.pinv(s, rcond=cutoff, hermitian=True)

    (w, v), upper, sizes, back, inverse = rg.jit(symmetric)(s + other, s + other.T)
    expected = np.linalg.eigvalsh(s)
    close(w, expected, tolerance)
    close(upper, expected, tolerance)
    close(v.T @ v, np.eye(n), tolerance)
    close((v * w) @ v.T, s, tolerance)
    close(sizes, np.sort(np.abs(expected))[::-1], tolerance)
    close(back, s, tolerance)
    close(inverse, np.linalg.pinv(s, rcond=cutoff) if n else s, 1e3 * tolerance)

    def general(a):
        return np.linalg.svd(a), np.linalg.svd(a, full_matrices=False)

    for (u, sigma, vh), reference in zip(rg.jit(general)(a), general(a)):
        assert (u.shape, vh.shape) == (reference.U.shape, reference.Vh.shape)
        close(sigma, reference.S, tolerance)
        close(u.T @ u, np.eye(u.shape[1]), tolerance)
        close(vh @ vh.T, np.eye(vh.shape[0]), tolerance)
        close((u[:, :k] * sigma) @ vh[:k], a, tolerance)
    if k > 0:
        solve = lambda a, b: np.linalg.lstsq(a, b, rcond=cutoff)
        x, residuals, rank, sigma = rg.jit(solve)(a, b)
        reference = solve(a, b)
        close(x, reference[0], 1e4 * tolerance)
        assert rank == reference[2] and (reference[1].size == 0 or np.allclose(residuals, reference[1], atol=1e3 * tolerance))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.slow if seed >= 24 else ()) for seed in range(200)])
def test_random_matrices_have_right_gradients_or_errors(seed):
    rng = np.random.default_rng(seed)
    (m, n), kind = rng.integers(1, 9, 2), ("apart", "repeated", "zero", "identity", "near", "rank")[seed % 6]
    a, s = with_values(rng, m, n, kind)
    c, d = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    w, v = np.linalg.eigh(s)
    sigma, size = np.linalg.svd(a, compute_uv=False), max(1.0, np.max(np.abs(w)))
    gap = np.min(np.diff(w), initial=1.0) / size

    def sine(s):
        w, v = np.linalg.eigh(s)
        return np.sum((v * np.sin(w)) @ v.T * c)

    close(rg.grad(lambda s: np.sum(np.exp(np.linalg.eigvalsh(s))))(s), lower((v * np.exp(w)) @ v.T), 1e-9)
    close(rg.grad(lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 2))(a), 2.0 * a, 1e-9)
    # Values 1e-9 apart lose half of the digits, not more.
    weights = np.arange(1.0, n + 1)
    for f, expected in ((sine, through_vectors(s, c)), (lambda s: weights @ np.linalg.eigvalsh(s), lower((v * weights) @ v.T))):
        if gap > 1e-12:
            close(rg.grad(f)(s), expected, 1e-5 if gap < 1e-6 else 1e-8)
        else:
            refused(f, s)
    # Second derivatives, too: by roundings of eigenvectors, those of what is 1e-9 apart would be wrong by 100 and more.
    if n <= 4 and gap > 1e-5:
        step = 1e-4 * (c + c.T)
        close(1e4 * rg.jvp(rg.grad(sine), (s,), (step,))[1], 5e3 * (through_vectors(s + step, c) - through_vectors(s - step, c)), 1e-4)
    elif n <= 4 and gap < 4e-7:
        refused(lambda s: rg.hessian(sine)(s), s, transform=lambda f: f)
    polar = lambda a: np.sum(rg.linalg.polar(a)[0] * d)
    if sigma[-1] > 1e-9:
        tall = polar_gradient(a, d) if m >= n else polar_gradient(a.T, d.T).T
        close(rg.grad(polar)(a), tall, 1e-6)
        close(rg.grad(lambda a: np.linalg.norm(a, "nuc"))(a), rg.jit(rg.linalg.polar)(a)[0], 1e-9)
    else:
        refused(polar, a)
        refused(lambda a: np.linalg.norm(a, "nuc"), a)
    if sigma[-1] > 1e-2 * sigma[0]:
        for f in (lambda a: np.sum(np.linalg.pinv(a) * d.T), lambda a: np.sum(np.linalg.lstsq(a, d[:, 0], rcond=None)[0] ** 2)):
            close(rg.grad(f)(a), differences(f, a), 1e-3)


def test_named_results_of_known_matrices():
    known = np.diag([1.0, 2.0])

    def f(x):
        return np.sum(np.linalg.eigh(np.diag([1.0, 2.0])).eigenvalues * x) + np.sum(np.linalg.svd(np.diag([1.0, 3.0])).S * x) + np.linalg.eigh(known)[0] @ x + np.linalg.slogdet(np.diag([1.0, 3.0])).logabsdet

    np.testing.assert_allclose(rg.jit(f)(np.ones(2)), f(np.ones(2)))
    np.testing.assert_allclose(rg.grad(f)(np.ones(2)), [1 + 3 + 1, 2 + 1 + 2])
