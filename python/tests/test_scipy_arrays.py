"""SciPy's functions of arrays inside of traced ones, one row of the table each: values against SciPy, derivatives of orders 1 and 2 against differences."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.spatial.distance

import retrograd as rg
from retrograd.scipy import table

rng = np.random.default_rng(7)
A = rng.standard_normal((4, 4))
S = A @ A.T + 4 * np.eye(4)
B = rng.standard_normal((4, 3))
C = rng.standard_normal((2, 3))
b = rng.standard_normal(4)
c = rng.standard_normal(5)
bands = np.array([[0.0, 0.3, 0.2, -0.4, 0.1], [2.0, 3.0, -2.5, 4.0, 3.0], [-0.4, 0.5, 0.1, 0.7, 0.0]])
x = np.sort(rng.uniform(0, 2, 7))
y = np.sin(3 * x)
la, si, sd = scipy.linalg, scipy.integrate, scipy.spatial.distance

# name in SciPy: calls, each with its arguments.
CASES = {
    "linalg.cholesky": [
        (lambda S: la.cholesky(S), [S]),
        (lambda S: la.cholesky(S, lower=True, check_finite=False), [S]),
    ],
    "linalg.cho_factor": [(lambda S, b: la.cho_solve(la.cho_factor(S), b), [S, b])],
    "linalg.cho_solve": [(lambda S, b: la.cho_solve(la.cho_factor(S, lower=True, overwrite_a=True), b), [S, B])],
    "linalg.lu_factor": [(lambda A: la.lu_factor(A)[0], [A]), (lambda A: 1.0 * la.lu_factor(A)[1], [A])],
    "linalg.lu_solve": [
        (lambda A, b: la.lu_solve(la.lu_factor(A), b), [A, b]),
        (lambda A, b: la.lu_solve(la.lu_factor(A), b, trans=1), [A, B]),
    ],
    "linalg.solve_triangular": [
        (lambda A, b: la.solve_triangular(A, b, trans=1, lower=True), [S, b]),
        (lambda A, b: la.solve_triangular(A, b, unit_diagonal=True), [S, B]),
    ],
    "linalg.solve": [
        (lambda A, b: la.solve(A, b), [A, b]),
        (lambda A, b: la.solve(A, b, assume_a="sym"), [S, b]),
        (lambda A, b: la.solve(A, b, assume_a="pos", lower=True), [S, B]),
        (lambda A, b: la.solve(A, b, transposed=True), [A, b]),
        (lambda A, b: la.solve(A, b, assume_a="upper triangular"), [np.triu(S), b]),
    ],
    "linalg.inv": [(lambda A: la.inv(A), [A])],
    "linalg.det": [(lambda A: la.det(A), [A])],
    "linalg.eigh": [
        (lambda S: la.eigh(S)[0], [S]),
        (lambda S: np.abs(la.eigh(S, lower=False)[1]), [S]),
        (lambda S, M: np.abs(la.eigh(S, M)[1]), [S, S + np.diag([1.0, 2, 3, 4])]),
        (lambda S: la.eigh(S, eigvals_only=True, subset_by_index=[1, 2]), [S]),
    ],
    "linalg.eigvalsh": [(lambda S, M: la.eigvalsh(S, M), [S, S + np.diag([1.0, 2, 3, 4])])],
    "linalg.svd": [
        (lambda B: np.abs(la.svd(B)[2]), [B]),
        (lambda B: np.abs(la.svd(B, full_matrices=False)[0]), [B]),
        (lambda B: la.svd(B, full_matrices=False, compute_uv=False), [B.T.copy()]),
    ],
    "linalg.svdvals": [(lambda A: la.svdvals(A), [A])],
    "linalg.pinv": [
        (lambda B: la.pinv(B), [B]),
        (lambda B: la.pinv(B, atol=1e-3, rtol=1e-4), [C]),
        (lambda B: la.pinv(B, return_rank=True)[0], [B]),
    ],
    "linalg.polar": [
        (lambda B: la.polar(B)[0], [B]),
        (lambda A: la.polar(A)[1], [A]),
        (lambda C: la.polar(C, side="left")[1], [C]),
        (lambda A: la.polar(A)[0], [3.0 * np.eye(4)]),
    ],
    "linalg.orthogonal_procrustes": [(lambda B, D: la.orthogonal_procrustes(B, D)[0], [B, B[::-1] + 1.0])],
    "linalg.lstsq": [(lambda B, b: la.lstsq(B, b)[0], [B, b])],
    "linalg.norm": [(lambda A: la.norm(A), [A])],
    "linalg.solve_banded": [(lambda ab, b: la.solve_banded((1, 1), ab, b), [bands, c])],
    "linalg.solve_sylvester": [(lambda A, D, Q: la.solve_sylvester(A, D, Q), [S, A[:3, :3] + 5 * np.eye(3), B])],
    "linalg.expm": [
        (lambda A: la.expm(A), [A]),
        (lambda A: la.expm(A), [6 * A]),
        (lambda A: la.expm(A), [1e-3 * A]),
        (lambda A: la.expm(A), [np.stack([A, 0.1 * A])]),
    ],
    "linalg.sqrtm": [(lambda A: la.sqrtm(A), [S]), (lambda A: la.sqrtm(A), [A + 5 * np.eye(4)])],
    "linalg.logm": [(lambda A: la.logm(A), [S]), (lambda A: la.logm(A), [0.3 * A + 3 * np.eye(4)])],
    "linalg.toeplitz": [(lambda c, r: la.toeplitz(c, r), [b, c]), (lambda c: la.toeplitz(c), [b])],
    "linalg.circulant": [(lambda c: la.circulant(c), [b])],
    "linalg.hankel": [(lambda c, r: la.hankel(c, r), [b, c]), (lambda c: la.hankel(c), [b])],
    "linalg.block_diag": [(lambda a, b, c: la.block_diag(a, b, c), [A, B, b])],
    "linalg.lu": [
        *[(lambda A, k=k: la.lu(A)[k], [A]) for k in range(3)],
        (lambda A: la.lu(A, permute_l=True)[0], [A]),
        (lambda A: 1.0 * la.lu(A, p_indices=True)[0], [A]),
    ],
    "linalg.qr": [(lambda A: la.qr(A)[1], [S + A]), (lambda B: la.qr(B, mode="economic")[0], [B]), (lambda B: la.qr(B, mode="r")[0], [B])],
    "linalg.solve_toeplitz": [
        (lambda c, r, x: la.solve_toeplitz((c, r), x), [b + np.array([9.0, 0, 0, 0]), b, B]),
        (lambda c, x: la.solve_toeplitz(c, x), [b + np.array([9.0, 0, 0, 0]), b]),
    ],
    "linalg.solve_circulant": [(lambda c, x: la.solve_circulant(c, x), [b + np.array([9.0, 0, 0, 0]), b])],
    "linalg.solveh_banded": [
        (lambda ab, x: la.solveh_banded(ab, x), [np.array([[0, 0.3, -0.2, 0.5], [4.0, 5.0, 6.0, 5.0]]), b]),
        (lambda ab, x: la.solveh_banded(ab, x, lower=True), [np.array([[4.0, 5.0, 6.0, 5.0], [0.3, -0.2, 0.5, 0]]), B]),
    ],
    "linalg.solve_continuous_lyapunov": [(lambda A, Q: la.solve_continuous_lyapunov(A, Q), [S, A])],
    "linalg.solve_lyapunov": [(lambda A, Q: la.solve_lyapunov(A, Q), [S, A])],
    "linalg.solve_discrete_lyapunov": [(lambda A, Q: la.solve_discrete_lyapunov(A, Q), [0.2 * A, S])],
    "linalg.companion": [(lambda c: la.companion(c), [b])],
    "linalg.khatri_rao": [(lambda B, C: la.khatri_rao(B, C), [B, C])],
    "linalg.expm_frechet": [(lambda A, E: la.expm_frechet(A, E)[1], [0.3 * A, S])],
    **{f"linalg.{name}": [(lambda A, name=name: getattr(la, name)(A), [0.4 * A])] for name in ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")},
    "integrate.trapezoid": [
        (lambda y, x: si.trapezoid(y, x), [y, x]),
        (lambda y: si.trapezoid(y, dx=0.5, axis=0), [B]),
    ],
    "integrate.simpson": [
        (lambda y, x: si.simpson(y, x=x), [y, x]),
        (lambda y, x: si.simpson(y, x=x), [y[:6], x[:6]]),
        (lambda y: si.simpson(y, dx=0.3, axis=0), [B]),
    ],
    "integrate.cumulative_trapezoid": [
        (lambda y, x: si.cumulative_trapezoid(y, x, initial=0), [y, x]),
        (lambda y: si.cumulative_trapezoid(y, dx=0.5, axis=0), [B]),
    ],
    "integrate.fixed_quad": [
        (lambda a, b: si.fixed_quad(lambda t: np.sin(t) * b, a, 2.0)[0], [np.array(0.3), np.array(0.7)])
    ],
    "spatial.distance.cdist": [
        *[
            (lambda X, Y, metric=metric: sd.cdist(X, Y, metric), [B, C])
            for metric in (
                "euclidean",
                "sqeuclidean",
                "cityblock",
                "chebyshev",
                "cosine",
                "correlation",
                "canberra",
                "braycurtis",
            )
        ],
        (lambda X, Y: sd.cdist(X, Y, "minkowski", p=3.0), [B, C]),
    ],
    "spatial.distance.pdist": [(lambda X: sd.pdist(X), [B]), (lambda X: sd.pdist(X, metric="cityblock"), [B])],
    "spatial.distance.squareform": [
        (lambda v: sd.squareform(v), [np.arange(1.0, 7.0)]),
        (lambda X: sd.squareform(sd.squareform(sd.pdist(X))), [B]),
    ],
    **{
        f"spatial.distance.{name}": [(lambda u, v, name=name: getattr(sd, name)(u, v), [b, A[0] - 0.1])]
        for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "minkowski", "canberra", "braycurtis")
    },
    "spatial.distance.seuclidean": [(lambda u, v, V: sd.seuclidean(u, v, V), [b, A[0], np.array([0.5, 1.0, 2.0, 1.5])])],
    "spatial.distance.mahalanobis": [(lambda u, v, V: sd.mahalanobis(u, v, V), [b, A[0], S])],
    "spatial.distance.jensenshannon": [
        (lambda p, q: sd.jensenshannon(p, q), [np.abs(b) + 0.3, np.abs(A[0]) + 0.5]),
        (lambda p, q: sd.jensenshannon(p, q, 2.0, axis=1), [np.abs(A) + 0.5, np.abs(S) + 0.3]),
    ],
    "spatial.distance.hamming": [(lambda u, v: sd.hamming(u, v), [np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])])],
}
CASES["spatial.distance.minkowski"] += [(lambda u, v: sd.minkowski(u, v, 3), [b, A[0]]), (lambda u, v: sd.minkowski(u, v, np.inf), [b, A[0]]), (lambda u, v, w: sd.minkowski(u, v, 1.5, w), [b, A[0], np.abs(A[1])])]
CASES["spatial.distance.cosine"] += [(lambda u, v, w: sd.cosine(u, v, w), [b, A[0], np.abs(A[1])])]
CASES["spatial.distance.correlation"] += [(lambda u, v, w: sd.correlation(u, v, w), [b, A[0], np.abs(A[1])]), (lambda u, v: sd.correlation(u, v, centered=False), [b, A[0]])]
CASES["spatial.distance.euclidean"] += [(lambda u, v, w: sd.euclidean(u, v, w), [b, A[0], np.abs(A[1])])]
SYMMETRIC = {"linalg.cholesky", "linalg.cho_factor", "linalg.cho_solve"}
FLAT = [(name, k) for name, cases in CASES.items() for k in range(len(cases))]


def differenced(f, h):
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h)


def check_case(f, args, symmetric=False, tolerance=1e-11, accuracy=1e-7, order=2):
    """The value is SciPy's; gradients along a direction are those of differences, and so is the tangent of the gradient."""
    expected = np.asarray(f(*args))
    np.testing.assert_allclose(
        rg.jit(f)(*args), expected, rtol=tolerance, atol=tolerance * max(1.0, np.max(np.abs(expected), initial=0.0))
    )
    weights = np.cos(np.arange(expected.size)).reshape(expected.shape)

    def total(*args):
        return np.sum(np.sin(f(*args)) * weights)

    directions = tuple(np.sin(1.0 + np.arange(np.size(a))).reshape(np.shape(a)) for a in args)
    if symmetric:
        directions = tuple(d + d.T if d.ndim == 2 and d.shape[0] == d.shape[1] else d for d in directions)
    every = tuple(range(len(args)))
    gradient = rg.grad(total, argnums=every)
    found = gradient(*args)
    scale = 1e-3 * min(1.0, max(np.max(np.abs(a)) for a in args))
    for k in every:
        along = lambda t: total(*[a + t * directions[k] if i == k else a for i, a in enumerate(args)])
        np.testing.assert_allclose(
            np.sum(found[k] * directions[k]), differenced(along, scale), rtol=accuracy, atol=accuracy
        )
    if order == 2:
        second = rg.jvp(gradient, tuple(args), directions)[1]
        expected = differenced(
            lambda t: np.concatenate([np.ravel(g) for g in gradient(*[a + t * d for a, d in zip(args, directions)])]),
            scale,
        )
        second = np.concatenate([np.ravel(g) for g in second])
        np.testing.assert_allclose(
            second, expected, rtol=10 * accuracy, atol=10 * accuracy * max(1.0, np.max(np.abs(expected)))
        )


@pytest.mark.parametrize("name, k", FLAT)
def test_values_and_derivatives(name, k):
    f, args = CASES[name][k]
    check_case(f, args, symmetric=name in SYMMETRIC)


@pytest.mark.parametrize("name, k", [case for case in FLAT if case[0] not in ("linalg.lu_factor",)])
def test_float32_stays_what_it_is_in_scipy(name, k):
    f, args = CASES[name][k]
    args = [a.astype(np.float32) for a in args]
    found, expected = rg.jit(f)(*args), np.asarray(f(*args))
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3 * max(1.0, np.max(np.abs(expected))))


def test_matrices_without_a_real_result_are_errors():
    def root(a):
        return np.sum(scipy.linalg.sqrtm(a))

    def logarithm(a):
        return np.sum(scipy.linalg.logm(a))

    for f in (root, logarithm):
        with pytest.raises(rg.CheckError, match="no real result"):
            rg.grad(f)(np.diag([1.0, -2.0]))


def test_equal_points_have_a_derivative():
    def total(X):
        return np.sum(scipy.spatial.distance.cdist(X, X))

    assert np.all(np.isfinite(rg.grad(total)(B)))


def test_what_is_not_there_is_refused_by_name():
    def structure(a):
        return np.sum(scipy.linalg.solve(a, b, assume_a="unknown"))

    def metric(a):
        return np.sum(scipy.spatial.distance.cdist(a, a, "jaccard"))

    def integral(a):
        return scipy.integrate.quad(lambda t: t, 0.0, a[0, 0])[0]

    def schur(a):
        return np.sum(scipy.linalg.schur(a)[0])

    for f, words in [
        (structure, "assume_a='unknown'"),
        (metric, "jaccard"),
        (integral, "fixed_quad"),
        (schur, "scipy.linalg.schur is not supported"),
    ]:
        with pytest.raises(rg.Error, match=words) as caught:
            rg.grad(f)(A)
        assert caught.value.pos[0] == __file__


def test_every_rule_has_a_case():
    topics = ("linalg.", "integrate.", "spatial.")
    assert {name for name in table.RULES if name.startswith(topics)} - {
        "integrate.solve_ivp",
        "integrate.odeint",
    } == set(CASES)


def test_the_deviation_of_one_element_has_no_slope():
    import scipy.ndimage

    labels = np.array([1, 1, 2, 3])
    run = lambda x: np.sum(scipy.ndimage.standard_deviation(x, labels, [1, 2, 3]))
    np.testing.assert_allclose(rg.grad(run)(np.array([1.0, 2.0, 3.0, 4.0])), [-0.5, 0.5, 0.0, 0.0])
