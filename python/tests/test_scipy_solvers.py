"""Differential equations, sparse matrices and implicit functions inside of traced functions."""

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg
from test_scipy_arrays import check_case, differenced

import retrograd as rg

# Differential equations: compared at their tolerance


def prey(t, y, a):
    return np.array([a * y[0] - y[0] * y[1], y[0] * y[1] - y[1] + 0.1 * np.sin(t)])


TIMES = np.linspace(0.0, 4.0, 6)
START = np.array([1.0, 0.5])


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853"])
def test_solve_ivp(method):
    def run(y0, a):
        return scipy.integrate.solve_ivp(
            prey, (0.0, 4.0), y0, method=method, t_eval=TIMES, args=(a,), rtol=1e-7, atol=1e-9
        ).y

    np.testing.assert_allclose(rg.jit(run)(START, 1.3), run(START, 1.3), rtol=1e-6)

    def total(y0, a):
        return np.sum(np.sin(run(y0, a)))

    dy, da = rg.grad(total, argnums=(0, 1))(START, 1.3)
    np.testing.assert_allclose(da, differenced(lambda t: total(START, 1.3 + t), 1e-2), rtol=1e-5)
    np.testing.assert_allclose(dy[0], differenced(lambda t: total(START + [t, 0.0], 1.3), 1e-2), rtol=1e-5)


def test_solve_ivp_backwards_in_time_with_a_traced_end_and_dense_output():
    def run(end):
        solution = scipy.integrate.solve_ivp(
            lambda t, y: -0.5 * y + np.sin(t),
            (3.0, end),
            np.array([1.0]),
            t_eval=[end],
            rtol=1e-8,
            atol=1e-10,
            max_step=0.5,
        )
        return solution.y[0, 0]

    value, slope = rg.value_and_grad(run)(1.0)
    np.testing.assert_allclose(value, run(1.0), rtol=1e-7)
    np.testing.assert_allclose(slope, differenced(lambda t: run(1.0 + t), 1e-2), rtol=1e-5)

    def dense(a, t):
        solution = scipy.integrate.solve_ivp(
            lambda t, y: prey(t, y, a), (0.0, 4.0), START, dense_output=True, rtol=1e-8, atol=1e-10
        )
        return np.sum(solution.sol(t)) + solution.sol(1.5)[0]

    t = np.array([0.5, 2.0])
    value, (da, dt) = rg.value_and_grad(dense, argnums=(0, 1))(1.3, t)
    np.testing.assert_allclose(value, dense(1.3, t), rtol=1e-6)
    np.testing.assert_allclose(da, differenced(lambda h: dense(1.3 + h, t), 1e-2), rtol=1e-5)
    np.testing.assert_allclose(dt[0], differenced(lambda h: dense(1.3, t + [h, 0.0]), 1e-2), rtol=1e-4)


def test_solve_ivp_ends_at_an_event_whose_time_has_a_derivative():
    def ground(t, y, v):
        return y[0]

    ground.terminal, ground.direction = True, -1

    def fall(v, method):
        drag = lambda t, y, v: np.array([y[1], -9.81 - 0.1 * y[1] * np.abs(y[1])])
        start = np.array([0.0 * v + 0.5, v])
        solution = scipy.integrate.solve_ivp(
            drag, (0.0, 10.0), start, method, events=ground, args=(v,), rtol=1e-9, atol=1e-11
        )
        return solution.t_events[0][0] + solution.y_events[0][0][1]

    for method in ("RK45", "DOP853"):
        run = lambda v: fall(v, method)
        value, slope = rg.value_and_grad(run)(3.0)
        np.testing.assert_allclose(value, run(np.float64(3.0)), rtol=1e-7)
        np.testing.assert_allclose(slope, differenced(lambda h: run(np.float64(3.0 + h)), 1e-2), rtol=1e-5)


def test_odeint():
    def run(y0, a):
        return scipy.integrate.odeint(lambda y, t, a: prey(t, y, a), y0, TIMES, args=(a,))

    np.testing.assert_allclose(rg.jit(run)(START, 1.3), run(START, 1.3), rtol=1e-5)


def _third(t, y):
    return y[0] - 0.5


_THIRD = _third
_THIRD.terminal = 3


def pendulum(t, y):
    return np.array([y[1], -np.sin(y[0])])


def middle(t, y):
    return y[0]


def turn(t, y):
    return y[1]


def floor(t, y):
    return y[0] + 0.3


floor.terminal = True
floor.direction = -1
TIGHT = {"rtol": 1e-9, "atol": 1e-10}


def difference_of(f, p, h=1e-4):
    return np.array([(8 * (f(p + h * e) - f(p - h * e)) - (f(p + 2 * h * e) - f(p - 2 * h * e))) / (12 * h) for e in np.eye(p.size)])


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853"])
def test_several_events(method):
    def passed(p):
        found = scipy.integrate.solve_ivp(pendulum, (0.0, 9.0), p, method, events=[middle, turn], **TIGHT)
        return found.t_events[0][0] + 2.0 * found.t_events[0][-1] + found.y_events[0][-1][1] + found.y_events[1][0, 0] + found.y[0, -1]

    def ended(p):
        found = scipy.integrate.solve_ivp(pendulum, (0.0, 9.0), p, method, events=[turn, floor, middle], **TIGHT)
        return found.t_events[1][0] + found.t_events[2][-1] + found.y[1, -1] + 3.0 * found.t[-1]

    p = np.array([0.5, 0.2])
    for f in (passed, ended):
        np.testing.assert_allclose(rg.jit(f)(p), f(p), rtol=1e-9)
        np.testing.assert_allclose(rg.grad(f)(p), difference_of(f, p), rtol=1e-5, atol=1e-5)


def test_the_end_of_a_solution_without_t_eval():
    def run(p):
        found = scipy.integrate.solve_ivp(pendulum, (0.0, 3.0), p, **TIGHT)
        return np.sum(found.y[:, -1] ** 2) + found.y[1, -1] * found.t[-1] + found.y.T[-1][0] + found.y[..., -1][1]

    p = np.array([0.5, 0.2])
    np.testing.assert_allclose(rg.jit(run)(p), run(p), rtol=1e-12)
    np.testing.assert_allclose(rg.grad(run)(p), difference_of(run, p), rtol=1e-6, atol=1e-6)
    hessian = rg.hessian(run)(p)
    np.testing.assert_allclose(hessian, difference_of(rg.grad(run), p), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-10)


def test_an_event_that_does_not_happen_is_an_error():
    def run(p):
        return scipy.integrate.solve_ivp(pendulum, (0.0, 0.01), p, events=[middle, turn]).t_events[0][0]

    with pytest.raises(RuntimeError, match="event 0 does not happen"):
        rg.jit(run)(np.array([0.5, 0.2]))


def test_what_solve_ivp_cannot_do_is_refused():
    def run(y0, **options):
        return np.sum(scipy.integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0, **options).y)

    for options, words in [
        ({}, "t_eval"),
        ({"t_eval": [1.0], "method": "LSODA"}, "LSODA"),
        ({"t_eval": [1.0], "events": print}, "events"),
        ({"events": lambda t, y: y[0] - 0.5}, "t_eval"),
        ({"events": _THIRD}, "terminal after several times"),
        ({"t_eval": [1.0], "jac": 1}, "jac="),
    ]:
        with pytest.raises(rg.Unsupported, match=words):
            rg.grad(lambda y0: run(y0, **options))(np.ones(2))
    with pytest.raises(rg.CheckError, match="not within"):
        rg.grad(lambda y0: run(y0, t_eval=[2.0]))(np.ones(2))


# Implicit functions, against the gradient of an unrolled iteration


def test_root_has_the_gradient_of_the_unrolled_iteration():
    def unrolled(a):
        x = 1.0
        for _ in range(60):
            x = x - (x**3 + a * x - 2.0) / (3 * x**2 + a)
        return x

    def implicit(a):
        return rg.root(lambda x: x**3 + a * x - 2.0, 1.0)

    for a in (0.5, 3.0):
        np.testing.assert_allclose(rg.jit(implicit)(a), unrolled(a), rtol=1e-13)
        np.testing.assert_allclose(rg.grad(implicit)(a), rg.grad(unrolled)(a), rtol=1e-11)
        np.testing.assert_allclose(rg.grad(rg.grad(implicit))(a), rg.grad(rg.grad(unrolled))(a), rtol=1e-9)
        np.testing.assert_allclose(rg.jvp(rg.grad(implicit), (a,), (1.0,))[1], rg.grad(rg.grad(unrolled))(a), rtol=1e-9)


def test_root_of_several_unknowns():
    def solved(a):
        return rg.root(
            lambda x, a: np.array([x[0] ** 2 + x[1] - a[0], x[1] ** 3 - a[1] * x[0]]), np.array([1.0, 1.0]), (a,)
        )

    a = np.array([3.0, 2.0])
    x = scipy.optimize.root(lambda x: [x[0] ** 2 + x[1] - a[0], x[1] ** 3 - a[1] * x[0]], [1.0, 1.0], tol=1e-14).x
    np.testing.assert_allclose(rg.jit(solved)(a), x, rtol=1e-12)
    np.testing.assert_allclose(rg.root(lambda x: x**2 - 9.0, 1.0), 3.0, rtol=1e-13)
    check_case(
        lambda a: rg.root(lambda x: np.array([x[0] ** 2 + x[1] - a[0], x[1] ** 3 - a[1] * x[0]]), np.array([1.0, 1.0])),
        [a],
    )


def test_fixed_point_has_the_gradient_of_the_unrolled_iteration():
    def unrolled(a):
        x = np.array([0.5, 0.2])
        for _ in range(200):
            x = np.cos(a * x) * np.array([0.9, 0.7])
        return np.sum(x)

    def implicit(a):
        return np.sum(rg.fixed_point(lambda x: np.cos(a * x) * np.array([0.9, 0.7]), np.array([0.5, 0.2])))

    a = np.array([0.8, 0.5])
    np.testing.assert_allclose(rg.jit(implicit)(a), unrolled(a), rtol=1e-12)
    np.testing.assert_allclose(rg.grad(implicit)(a), rg.grad(unrolled)(a), rtol=1e-10)
    np.testing.assert_allclose(rg.hessian(implicit)(a), rg.hessian(unrolled)(a), rtol=1e-8, atol=1e-10)


def test_minimize_has_the_gradient_of_the_minimum():
    def loss(x, a):
        return (x[0] - a[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2 + np.exp(a[1] * x[0])

    def solved(a):
        return rg.minimize(loss, np.zeros(2), (a,))

    def unrolled(a):
        x = np.array([1.0, 1.0])
        for _ in range(4000):
            x = x - 0.01 * rg.grad(loss)(x, a)
        return x

    a = np.array([1.0, 0.3])
    np.testing.assert_allclose(rg.jit(solved)(a), rg.jit(unrolled)(a), rtol=1e-6)
    np.testing.assert_allclose(rg.jacrev(solved)(a), rg.jacfwd(unrolled)(a), rtol=1e-5)
    np.testing.assert_allclose(rg.jacfwd(solved)(a), rg.jacrev(solved)(a), rtol=1e-10)


def test_what_does_not_converge_is_an_error_and_scipy_is_refused_with_what_to_write():
    with pytest.raises(rg.CheckError, match="rg.root did not converge"):
        rg.grad(lambda a: rg.root(lambda x: x**2 + a, 1.0))(4.0)
    cases = [
        (lambda a: scipy.optimize.brentq(lambda x: x - a, 0.0, 1.0), "rg.root"),
        (lambda a: scipy.optimize.newton(lambda x: x - a, 0.0), "rg.root"),
        (lambda a: scipy.optimize.minimize_scalar(lambda x: (x - a) ** 2).x, "rg.minimize"),
        (lambda a: scipy.optimize.minimize(lambda x: (x - a) ** 2, a).x, "rg.minimize"),
    ]
    for f, words in cases:
        with pytest.raises(rg.Unsupported, match=words) as caught:
            rg.grad(f)(0.5)
        assert caught.value.pos[0] == __file__


# Sparse matrices

rng = np.random.default_rng(5)
DENSE = np.where(rng.uniform(size=(5, 5)) < 0.5, rng.standard_normal((5, 5)), 0.0)
POSITIVE = scipy.sparse.csr_matrix(DENSE @ DENSE.T + 5 * np.eye(5))
x, X = rng.standard_normal(5), rng.standard_normal((5, 2))
KINDS = ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array", "coo_array"]


@pytest.mark.parametrize("kind", KINDS)
def test_products_of_constant_matrices(kind):
    matrix = getattr(scipy.sparse, kind)(DENSE)
    for run in (
        lambda x: matrix @ x,
        lambda x: matrix.T @ x,
        lambda x: x @ matrix,
        lambda x: matrix.dot(x),
        lambda x: (2.0 * matrix) @ x,
        lambda x: (matrix + matrix.T) @ x,
    ):
        check_case(run, [x])
    check_case(lambda X: matrix @ X, [X])
    # What a matrix holds is read at each call.
    product = rg.jit(lambda x: matrix @ x)
    product(x)
    matrix.data[0] += 1.0
    np.testing.assert_allclose(product(x), matrix @ x, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_with_traced_numbers(kind):
    make, stored = getattr(scipy.sparse, kind), getattr(scipy.sparse, kind)(DENSE)
    if kind.startswith("coo"):
        build = lambda data: make((data, (stored.row, stored.col)), shape=stored.shape)
    else:
        build = lambda data: make((data, stored.indices, stored.indptr), shape=stored.shape)
    check_case(lambda data, x: build(data) @ x, [stored.data, x])
    check_case(lambda data: build(data).toarray(), [stored.data])
    check_case(lambda data, x: build(data).T @ (3.0 * x), [stored.data, x])


def test_solutions_have_the_derivative_of_the_solution():
    def dense(data, b):
        matrix = scipy.sparse.csr_matrix((data, POSITIVE.indices, POSITIVE.indptr), shape=POSITIVE.shape)
        return scipy.sparse.linalg.spsolve(matrix, b)

    def iterated(data, b):
        matrix = scipy.sparse.csr_matrix((data, POSITIVE.indices, POSITIVE.indptr), shape=POSITIVE.shape)
        solution, failed = scipy.sparse.linalg.cg(matrix, b, rtol=1e-14)
        return solution

    check_case(dense, [POSITIVE.data, x])
    np.testing.assert_allclose(rg.jit(iterated)(POSITIVE.data, x), dense(POSITIVE.data, x), rtol=1e-11)
    total = lambda f: lambda data, b: np.sum(np.sin(f(data, b)))
    for k in (0, 1):
        np.testing.assert_allclose(
            rg.grad(total(iterated), argnums=k)(POSITIVE.data, x),
            rg.grad(total(dense), argnums=k)(POSITIVE.data, x),
            rtol=1e-9,
        )
    twice = lambda f: rg.grad(lambda b: np.sum(np.cos(rg.grad(total(f), argnums=1)(POSITIVE.data, b))))
    np.testing.assert_allclose(twice(iterated)(x), twice(dense)(x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        rg.grad(lambda b: np.sum(scipy.sparse.linalg.cg(POSITIVE, b, rtol=1e-14)[0] ** 2))(x),
        2 * np.linalg.solve(POSITIVE.toarray(), np.linalg.solve(POSITIVE.toarray(), x)),
        rtol=1e-9,
    )


def test_sparse_matrices_refuse_what_has_no_pattern():
    for f, words in [
        (lambda a: np.sum(scipy.sparse.csr_matrix(a) @ x), "pattern is not known"),
        (lambda a: np.sum(scipy.sparse.linalg.gmres(a, x)[0]), "cg or spsolve"),
    ]:
        with pytest.raises(rg.Unsupported, match=words) as caught:
            rg.grad(f)(DENSE)
        assert caught.value.pos[0] == __file__
