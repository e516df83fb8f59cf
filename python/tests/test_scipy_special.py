"""`scipy.special` inside of traced functions: one table, from which values, derivatives, special points and element types are tested.

Values are held against numbers made by mpmath (`make_special_reference.py`) in units in the last place, derivatives of orders 1 and 2 against
differences, special points against SciPy.
"""

import json
import pathlib

import numpy as np
import pytest
import scipy.special

import retrograd as rg
from retrograd.scipy import table

inf, nan = np.inf, np.nan
REFERENCE = json.loads(pathlib.Path(__file__).with_name("special_reference.json").read_text())

# Largest error in ULP; of oscillating functions in ULP of their amplitude.
BOUNDS = {
    "gamma": 12,
    "gammaln": 24,
    "rgamma": 12,
    "digamma": 40,
    "zetac": 200,
    "erfcx": 4,
    "erfinv": 4,
    "erfcinv": 4,
    "ndtr": 6,
    "log_ndtr": 6,
    "ndtri": 4,
    "log_expit": 4,
    "logit": 6,
    "expit": 4,
    "erf": 4,
    "erfc": 4,
    "entr": 4,
    "exprel": 6,
    "i0": 6,
    "i1": 6,
    "i0e": 6,
    "i1e": 6,
    "k0": 6,
    "k1": 6,
    "k0e": 6,
    "k1e": 6,
    "lambertw": 24,
    "beta": 200,
    "betaln": 16,
    "xlogy": 4,
    "xlog1py": 4,
    "rel_entr": 8,
    "kl_div": 24,
    "zeta": 12,
    "binom": 60,
    "poch": 120,
    "gammainc": 1000,
    "gammaincc": 1000,
    "betainc": 400,
    "stdtr": 200,
    "chdtr": 1000,
    "polygamma1": 12,
    "polygamma3": 12,
    "iv4": 12,
    "kn3": 12,
    "j0": 8,
    "j1": 8,
    "y0": 8,
    "y1": 8,
    "jv3": 24,
    "yn2": 24,
}
OSCILLATING = {"j0", "j1", "y0", "y1", "jv3", "yn2"}

# Points of smoothness for derivatives, one list per argument; None where there is no derivative.
POINTS = {
    "gamma": [[0.3, 1.0, 2.5, 7.2, -1.5, -0.3]],
    "gammaln": [[0.3, 1.0, 2.0, 7.2, 40.0, -1.5]],
    "loggamma": [[0.3, 1.0, 7.2]],
    "rgamma": [[0.3, 1.0, 0.0, -1.0, -2.5]],
    "digamma": [[0.3, 1.4616, 2.0, 9.0, -1.5]],
    "psi": [[0.3, 2.0]],
    "zetac": [[1.5, 3.0, -1.5]],
    "erf": [[-1.0, 0.0, 2.0]],
    "erfc": [[-1.0, 0.0, 2.0]],
    "erfcx": [[-1.0, 0.0, 0.5, 4.0]],
    "erfinv": [[-0.7, 0.0, 0.3, 0.9]],
    "erfcinv": [[0.01, 0.3, 1.0, 1.7]],
    "ndtr": [[-3.0, -1.0, 0.0, 2.0]],
    "log_ndtr": [[-20.0, -1.0, 0.0, 3.0]],
    "ndtri": [[0.01, 0.4, 0.5, 0.95]],
    "expit": [[-3.0, 0.0, 2.0]],
    "logit": [[0.1, 0.5, 0.9]],
    "log_expit": [[-3.0, 0.0, 40.0]],
    "softplus": [[-3.0, 0.0, 4.0]],
    "expm1": [[0.0, 1.0]],
    "log1p": [[0.0, 1.0]],
    "cbrt": [[1.0, -2.0]],
    "exp2": [[0.0, 1.5]],
    "entr": [[0.2, 1.0, 3.0]],
    "exprel": [[-2.0, 0.0, 1e-3, 1.0]],
    "j0": [[-9.5, 0.0, 0.5, 3.0, 7.99, 8.01, 30.0]],
    "j1": [[-9.5, 0.0, 0.5, 3.0, 8.01, 30.0]],
    "y0": [[0.5, 3.0, 8.01, 30.0]],
    "y1": [[0.5, 3.0, 30.0]],
    "i0": [[-9.5, 0.0, 0.5, 3.0, 8.01]],
    "i1": [[-9.5, 0.0, 0.5, 8.01]],
    "i0e": [[-9.5, 0.5, 3.0, 8.01]],
    "i1e": [[-9.5, 0.5, 8.01]],
    "k0": [[0.3, 1.5, 2.1, 9.0]],
    "k1": [[0.3, 1.5, 9.0]],
    "k0e": [[0.3, 1.5, 9.0]],
    "k1e": [[0.3, 1.5, 9.0]],
    "beta": [[0.4, 2.0, 9.0], [0.7, 3.0, 30.0]],
    "betaln": [[0.4, 2.0, 9.0], [0.7, 3.0, 30.0]],
    "binom": [[5.5, 9.3], [2.2, 3.1]],
    "poch": [[1.5, 3.0], [2.5, 0.7]],
    "xlogy": [[0.0, 1.5, -2.0], [2.0, 0.7, 3.0]],
    "xlog1py": [[0.0, 1.5], [2.0, 0.7]],
    "rel_entr": [[0.5, 2.0], [0.7, 1.0]],
    "kl_div": [[0.5, 2.0], [0.7, 1.0]],
    "boxcox": [[0.5, 2.0, 3.0], [0.0, 1.5, -1.0]],
    "inv_boxcox": [[0.5, 2.0], [0.3, 1.5]],
    "huber": [[1.0, 1.0], [0.5, 3.0]],
    "pseudo_huber": [[1.0, 0.5], [0.5, 3.0]],
    "gammainc": [[0.6, 2.0, 30.0, 1.0], [0.3, 3.0, 28.0, 0.5]],
    "gammaincc": [[0.6, 2.0, 30.0], [0.3, 3.0, 28.0]],
    "gammaincinv": [[0.6, 2.0, 30.0], [0.3, 0.8, 0.5]],
    "gammainccinv": [[0.6, 2.0, 30.0], [0.3, 0.8, 0.5]],
    "betainc": [[0.6, 2.0, 9.0], [0.7, 3.0, 4.0], [0.3, 0.4, 0.8]],
    "betaincc": [[0.6, 2.0], [0.7, 3.0], [0.3, 0.4]],
    "betaincinv": [[0.6, 2.0, 9.0], [0.7, 3.0, 4.0], [0.3, 0.6, 0.8]],
    "chdtr": [[3.0, 7.0], [2.0, 9.0]],
    "chdtrc": [[3.0, 7.0], [2.0, 9.0]],
    "gdtr": [[1.5], [2.5], [0.8]],
    "stdtr": [[3.0, 7.0, 5.0], [-2.0, 0.4, 0.0]],
    "stdtrit": [[3.0, 7.0], [0.05, 0.7]],
    "pdtr": None,
    "bdtr": None,
    "gammasgn": [[0.3, 2.5, -1.5]],
    "exp1": [[0.05, 0.9, 1.1, 9.0]],
    "expi": [[-3.0, -0.4, 0.2, 2.0, 9.0, 45.0]],
    "dawsn": [[-3.0, 0.0, 0.3, 0.5, 6.0, 30.0]],
    "erfi": [[-1.5, 0.0, 0.3, 2.0]],
    "spence": [[0.1, 0.7, 1.0, 1.5, 7.0]],
    "ellipk": [[-3.0, -1e-4, 0.0, 0.3, 0.95]],
    "ellipkm1": [[0.05, 0.7, 1.0, 3.0]],
    "ellipe": [[-3.0, -1e-4, 0.0, 0.3, 0.95]],
    "exp10": [[-1.0, 0.0, 1.5]],
    "cosm1": [[-1.0, 0.0, 1e-3, 2.0]],
    "powm1": [[0.5, 1.0, 3.0], [2.0, 0.3, -1.5]],
    "sindg": [[0.0, 30.0, -100.0]],
    "cosdg": [[0.0, 30.0, -100.0]],
    "tandg": [[0.0, 30.0, -100.0]],
    "cotdg": [[10.0, 30.0, -100.0]],
    "radian": [[1.0, 30.0], [2.0, 1.0], [3.0, 7.0]],
    "fdtr": [[3.0, 5.0], [4.0, 2.5], [0.7, 2.0]],
    "fdtrc": [[3.0, 5.0], [4.0, 2.5], [0.7, 2.0]],
    "nbdtr": None,
    "nbdtrc": None,
}
# Functions of a known order or other parameters that have no derivative: how they are called, and the same of SciPy.
OF_ORDER = {
    "polygamma": [(1, [0.3, 2.0, 9.0, -1.5]), (3, [0.3, 2.0, -0.5])],
    "jv": [(0, [1.0]), (3, [0.5, 2.0, 9.0]), (-3, [2.0]), (12, [3.0, 20.0]), (0.5, [0.3, 2.5, 40.0]), (1 / 3, [0.3, 29.0, 31.0]), (-1.5, [0.7, 9.0]), (19.35, [5.0, 29.0])],
    "yn": [(2, [0.5, 9.0])],
    "iv": [(4, [-0.5, 2.0, 30.0]), (0.5, [0.3, 2.5, 40.0]), (-0.7, [0.7, 9.0]), (49.5, [5.0, 80.0])],
    "ive": [(4, [0.5, 30.0]), (1.5, [0.3, 2.5, 40.0])],
    "kn": [(3, [0.5, 9.0])],
    "kve": [(2, [0.5, 9.0]), (1 / 3, [0.3, 2.5, 40.0])],
    "kv": [(2.0, [0.5]), (0.5, [0.3, 2.5, 40.0]), (2.3, [0.3, 1.9, 9.0])],
    "yv": [(1.0, [0.5]), (0.5, [0.3, 2.5, 40.0]), (2.3, [0.3, 2.5, 40.0]), (-0.5, [0.7, 9.0]), (19.35, [5.0, 29.0])],
    "jve": [(1.5, [0.3, 2.5, 40.0])],
    "yve": [(1, [0.5, 9.0]), (-1.5, [0.5, 9.0])],
    "expn": [(0, [0.3, 2.0]), (1, [0.3, 2.0]), (2, [0.1, 0.9, 1.1, 9.0]), (5, [0.1, 1.5])],
    **{f"eval_{name}": [(0, [0.3]), (1, [0.3, -0.7]), (4, [0.3, -0.7, 1.5])] for name in ("legendre", "chebyt", "chebyu", "hermite", "hermitenorm", "laguerre")},
    **{f"spherical_{name}": [(0, [0.3, 2.0, 40.0]), (3, [0.5, 2.0, 9.0])] for name in ("jn", "yn", "in", "kn")},
    **{name: [(1, [0.5, 3.0]), (1.5, [0.5, 3.0]), (0, [2.0])] for name in ("jvp", "yvp", "ivp", "kvp")},
}
SPECIAL = [0.0, 1.0, -1.0, 0.5, 2.0, -2.0, inf, -inf, nan]
# Where SciPy's value is that of one of its versions, or complex.
DISPUTED = {
    "gammaln": {-inf},
    "loggamma": {0.0, -1.0, -2.0, -inf},
    "gammasgn": set(),
    "zetac": {-inf, -2.0},
    "boxcox": {-1.0, -2.0, -inf, inf, 0.0},
    "inv_boxcox": {inf, -inf, -1.0, -2.0},
    "beta": {0.0, -1.0, -2.0, inf, -inf},
    "betaln": {0.0, -1.0, -2.0, inf, -inf},
    "binom": {0.0, -1.0, -2.0, inf, -inf},
    "poch": {0.0, -1.0, -2.0, inf, -inf},
    "huber": {inf, -inf, nan},
    "pseudo_huber": {inf, -inf, nan},
    "betainc": {inf, 0.0},
    "betaincc": {inf, 0.0},
    "betaincinv": {inf, 0.0},
    "chdtr": {inf, -inf, 0.0, -1.0, -2.0},
    "chdtrc": {inf, -inf, 0.0, -1.0, -2.0},
    "gdtr": {inf, -inf, 0.0, -1.0, -2.0},
    "stdtr": {inf, -inf, 0.0, -1.0, -2.0},
    "stdtrit": {inf, -inf, 0.0, -1.0, -2.0},
    "pdtr": {inf, -inf, -1.0, -2.0, 0.0},
    "bdtr": {inf, -inf, -1.0, -2.0, 0.0, 0.5, 2.0, nan},
    "gammaincinv": {inf, 0.0},
    "gammainccinv": {inf, 0.0},
    "digamma": set(),
    "kl_div": {inf, -inf},
    "rel_entr": {inf, -inf},
    "exprel": set(),
    "rgamma": {-inf},
    # The limit, where SciPy has NaN.
    "expi": {inf}, "dawsn": {inf, -inf}, "ellipk": {-inf}, "ellipe": {-inf}, "ellipkm1": {inf, -inf}, "spence": {inf},
    "erfi": {inf, -inf}, "cosm1": {inf, -inf}, "powm1": {inf, -inf, 0.0, -1.0, -2.0, nan}, "radian": {inf, -inf, nan},
    **{name: {inf, -inf, 0.0} for name in ("sindg", "cosdg", "tandg", "cotdg")},
    **{name: {inf, -inf, 0.0, -1.0, -2.0} for name in ("fdtr", "fdtrc")}, **{name: {inf, -inf, 0.0, -1.0, -2.0, 0.5, nan} for name in ("nbdtr", "nbdtrc")},
    **{name: {inf, -inf} for name in ("j0", "j1", "y0", "y1", "i0", "i1")},
}


def of(name):
    return getattr(scipy.special, name)


def applied(name, *order):
    function = of(name)

    def run(*args):
        return function(*order, *args)

    return run


def ulps(found, expected, scale):
    return np.abs(found - expected) / np.spacing(np.maximum(np.abs(expected), scale))


# What takes many seconds to trace: `./test --all` runs it.
SLOW = {"betaincinv", "stdtrit", "betaincc", "bdtr"}


def marked(names):
    return [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in names]


@pytest.mark.parametrize("name", REFERENCE)
def test_values_are_within_their_bound(name):
    rows = np.array(REFERENCE[name])
    *args, expected = rows.T
    base = name.rstrip("0123456789") if name[:-1] in OF_ORDER else name
    order = [int(name[len(base) :])] if base != name else []
    function = of(base)

    def run(*args):
        return function(*order, *args)

    found = np.real(rg.jit(run)(*args))
    # A difference of what is nearly equal is as good as the larger of both.
    scale = (
        np.sqrt(2 / (np.pi * args[0]))
        if name in OSCILLATING
        else 1e-2
        if name in ("gammaln", "digamma", "zetac", "log_ndtr")
        else 0.0
    )
    error = ulps(found, expected, scale)
    assert np.max(error) <= BOUNDS[name], f"{np.max(error)} ULP at {[float(arg[np.argmax(error)]) for arg in args]}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", POINTS)
def test_special_points_are_scipys(name):
    count = len(POINTS[name]) if POINTS[name] else {"pdtr": 2}.get(name, 3)
    usable = [
        x for x in SPECIAL if x not in DISPUTED.get(name, ()) and not (np.isnan(x) and nan in DISPUTED.get(name, ()))
    ]
    grid = [x.ravel() for x in np.meshgrid(*[usable] * count)]
    expected = of(name)(*grid)
    found = rg.jit(applied(name))(*grid)
    np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-16, equal_nan=True)


def difference(value, args, k, h=2e-3):
    """The derivative by argument k, by differences of sixth order."""
    at = lambda j: np.asarray(
        value(*[x + j * h * np.maximum(np.abs(x), 0.1) if i == k else x for i, x in enumerate(args)]), float
    )
    return (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + (at(3) - at(-3))) / (
        60 * h * np.maximum(np.abs(args[k]), 0.1)
    )


def check_derivatives(run, reference, args, tolerance=2e-7):
    """Orders 1 and 2 by every argument, and forward mode."""
    every = tuple(range(len(args)))

    def total(*args):
        return np.sum(run(*args))

    gradient = rg.grad(total, argnums=every)
    first = gradient(*args)
    for k in every:
        np.testing.assert_allclose(first[k], difference(reference, args, k), rtol=tolerance, atol=tolerance)
    directions = tuple(np.linspace(0.5, 1.5, len(x)) for x in args)
    np.testing.assert_allclose(
        rg.jvp(run, tuple(args), directions)[1], sum(g * d for g, d in zip(first, directions)), rtol=1e-9, atol=1e-11
    )
    # Order 2: forward over reverse along a direction, against differences of the gradient.
    second = rg.jvp(gradient, tuple(args), directions)[1]
    along = lambda t: np.stack(gradient(*[x + t * d for x, d in zip(args, directions)]))
    h = 2e-4
    expected = (45 * (along(h) - along(-h)) - 9 * (along(2 * h) - along(-2 * h)) + (along(3 * h) - along(-3 * h))) / (
        60 * h
    )
    np.testing.assert_allclose(np.stack(second), expected, rtol=20 * tolerance, atol=20 * tolerance)
    if len(args) == 1:
        # Reverse over reverse.
        np.testing.assert_allclose(
            rg.grad(lambda x: np.sum(gradient(x)[0]))(args[0]) * directions[0], second[0], rtol=1e-9, atol=1e-10
        )


@pytest.mark.parametrize("name", marked(name for name, points in POINTS.items() if points))
def test_derivatives_are_those_of_differences(name):
    args = [np.array(points) for points in POINTS[name]]
    check_derivatives(applied(name), of(name), args)


@pytest.mark.parametrize(
    "name, order, points",
    [
        # Real orders take seconds to trace: one of each function is in every run.
        pytest.param(name, order, points, marks=pytest.mark.slow if order % 1 and order != 0.5 else ())
        for name, cases in OF_ORDER.items()
        for order, points in cases
    ],
)
def test_functions_of_a_known_order(name, order, points):
    x = np.array(points)
    np.testing.assert_allclose(rg.jit(applied(name, order))(x), of(name)(order, x), rtol=1e-12)
    check_derivatives(applied(name, order), lambda x: of(name)(order, x), [x])


@pytest.mark.parametrize("name", marked(POINTS))
def test_float32_and_broadcasts_are_scipys(name):
    points = POINTS[name] or {"pdtr": [[3.0], [1.5]]}.get(name, [[1.0], [4.0], [0.3]])
    args = [
        np.float32(column[0]) * np.ones((1,) * k + (2,) + (1,) * (len(points) - 1 - k), np.float32)
        for k, column in enumerate(points)
    ]
    found, expected = rg.jit(applied(name))(*args), of(name)(*args)
    assert found.dtype == expected.dtype == np.float32 and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    gradient = rg.grad(lambda *args: np.sum(of(name)(*args)))(*args)
    assert gradient.dtype == np.float32 and gradient.shape == args[0].shape


# Functions of several results, and points of smoothness of all of them.
TUPLES = {"sici": [0.3, 3.9, 4.1, 30.0], "shichi": [0.3, 3.9, 4.1, 30.0], "fresnel": [-2.0, 0.0, 0.3, 1.5, 1.7, 4.0], "airy": [-9.0, -2.1, -1.9, 0.0, 0.5, 2.1, 9.0]}


@pytest.mark.parametrize("name, part", [pytest.param(name, part, marks=pytest.mark.slow if name == "airy" else ()) for name in TUPLES for part in range(4 if name == "airy" else 2)])
def test_functions_of_several_results(name, part):
    x = np.array(TUPLES[name])
    run = lambda x: of(name)(x)[part]
    np.testing.assert_allclose(rg.jit(run)(x), run(x), rtol=2e-12)
    check_derivatives(run, run, [x])
    assert rg.jit(run)(x.astype(np.float32)).dtype == np.float32


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, order", [(name, order) for name in ("jv", "yv", "iv", "kv", "ive", "kve") for order in (0.5, 1.0001, 2.75, -0.5, -1.3)])
def test_real_orders_everywhere(name, order):
    # SciPy has NaN for `ive` of a negative order at 0, where the limit is infinite.
    x = np.concatenate([np.logspace(-6, 2.5, 60), [0.0 if name != "ive" or order > 0 else 1.0, -1.0, np.nan]])
    found, expected = rg.jit(lambda x: of(name)(order, x))(x), of(name)(order, x)
    scale = np.sqrt(2 / (np.pi * np.maximum(np.abs(x), 1e-9))) if name in ("jv", "yv") else 0.0
    scale = np.where(np.isfinite(expected), np.maximum(np.abs(expected), scale), 1.0)
    np.testing.assert_allclose(found / scale, np.where(np.isfinite(expected), expected / scale, expected), rtol=1e-11, atol=2e-13)


def test_what_where_leaves_out_counts_for_nothing():
    def f(x):
        return np.sum(np.where(x > 0, scipy.special.gammaln(x) + scipy.special.erfinv(x) + scipy.special.k0(x), 0.0))

    np.testing.assert_array_equal(rg.grad(f)(np.array([-1.0, 0.5]))[0], 0.0)


def test_lambertw_and_zeta_and_sums():
    x = np.array([0.5, 2.0, 10.0])
    for run, reference in [
        (lambda z: scipy.special.lambertw(z), lambda z: scipy.special.lambertw(z).real),
        (lambda z: scipy.special.lambertw(-0.1 / z, -1).real, lambda z: scipy.special.lambertw(-0.1 / z, -1).real),
        (lambda z: scipy.special.zeta(1.0 + z), lambda z: scipy.special.zeta(1.0 + z)),
        (lambda z: scipy.special.zeta(1.0 + z, 2.5), lambda z: scipy.special.zeta(1.0 + z, 2.5)),
        (lambda z: scipy.special.zeta(2.5, z), lambda z: scipy.special.zeta(2.5, z)),
        (lambda z: scipy.special.comb(9.0, 2.0 + 0.1 * z), lambda z: scipy.special.comb(9.0, 2.0 + 0.1 * z)),
        (lambda z: scipy.special.factorial(z), lambda z: scipy.special.gamma(z + 1.0)),
        (lambda z: scipy.special.multigammaln(3.0 + z, 3), lambda z: scipy.special.multigammaln(3.0 + z, 3)),
    ]:
        np.testing.assert_allclose(rg.jit(run)(x), reference(x), rtol=1e-13)
        check_derivatives(run, reference, [x])
    m = np.array([[0.1, -2.0, 3.0], [1.0, 1.0, -inf]])
    for run in [
        lambda m: scipy.special.logsumexp(m, axis=1),
        lambda m: scipy.special.logsumexp(m, axis=0, keepdims=True),
        lambda m: scipy.special.softmax(m, axis=1),
        lambda m: scipy.special.log_softmax(m, axis=-1),
        lambda m: scipy.special.logsumexp(m, b=np.array([1.0, 0.5, 0.25]), axis=1),
        lambda m: scipy.special.logsumexp(m, b=np.array([1.0, -0.5, 0.25]), axis=1, return_sign=True)[0],
    ]:
        np.testing.assert_allclose(rg.jit(run)(m), run(m), rtol=1e-14)
        total = lambda v, run=run: np.sum(np.cos(run(np.reshape(v, (2, 3)))))
        v = np.linspace(-1.0, 2.0, 6)
        expected = [difference(lambda t: total(v + t * np.eye(6)[k]), [np.array(0.0)], 0, 1e-2) for k in range(6)]
        np.testing.assert_allclose(rg.grad(total)(v), expected, atol=1e-8)


_MINUS = np.array([-0.6, -5.0, -0.0, 0.0, 0.6])
_WHOLE = np.array([-3.0, -2.0, -1.0, 0.0, -0.5, 0.5, 1.0, 2.0, 3.0, -1.5, 2.5])
_PAIRS = [x.ravel() for x in np.meshgrid(_WHOLE, _WHOLE)]
# Poles, signs below 0, ends of the range.
FAR = {
    "factorial": [np.array([nan, -1.0, 0.0, -0.5, inf, 2.5])],
    "pdtr": [x.ravel() for x in np.meshgrid([-2.0, -0.5, 0.0, 2.0, inf], [-1.0, 0.0, 1.5, inf])],
    "chdtr": [np.array([3.0, 3.0, 0.0, -1.0]), np.array([-1.0, inf, 1.5, 1.5])],
    "chdtrc": [np.array([3.0, 3.0, 0.0, -1.0]), np.array([-1.0, inf, 1.5, 1.5])],
    "ellipkm1": [np.array([5e-324, 1e-300, 1e-150, 1e-20, 1e-9, 1.1e-9, 1e-5, 2.0, 1e10, 1e300])],
    "zetac": [np.array([60.0, 20.0, 100.0, 2000.0, -inf, inf, -2.0, -3.5, -200.0, -171.0, 0.5, 1.1])],
    "zeta": [np.array([60.0, -inf, inf, -2.0, -200.0, -202.0, -171.0, -300.5, -169.0])],
    "gammaln": [np.array([-inf, inf, -1.0])],
    **{name: _PAIRS for name in ("beta", "betaln", "poch", "binom")},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FAR)
def test_poles_and_ends_are_scipys(name):
    np.testing.assert_allclose(rg.jit(applied(name))(*FAR[name]), of(name)(*FAR[name]), rtol=1e-12, atol=1e-15 if name == "betaln" else 0.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["sici", "shichi", "spherical_jn", "spherical_yn", "spherical_in", "spherical_kn", "yve"])
def test_below_0_is_scipys(name):
    run = (lambda x: of(name)(x)[1]) if name in ("sici", "shichi") else lambda x: of(name)(3, x)
    np.testing.assert_allclose(rg.jit(run)(_MINUS), run(_MINUS), rtol=1e-12)
    if name != "yve":
        check_derivatives(run, run, [np.array([-0.6, -5.0])])


def test_a_slope_outside_of_the_domain_is_nan():
    for name in ("k0", "k1", "k0e", "k1e", "y0", "y1", "entr", "exp1"):
        slope = rg.grad(lambda x: np.sum(of(name)(x)))(np.array([-0.6, 0.6]))
        assert np.isnan(slope[0]) and np.isfinite(slope[1]), name
    for p in (1e-300, 1e-150, 1e-20):
        np.testing.assert_allclose(2.0 * p * rg.grad(lambda p: scipy.special.ellipkm1(p))(p), -1.0, rtol=1e-12)


@pytest.mark.parametrize("name", ["expn", "eval_chebyt", "eval_chebyu", "eval_hermite", "eval_hermitenorm", "eval_laguerre", "eval_legendre", "polygamma", "kn", "yn", "jv", "jvp", "spherical_jn", "spherical_kn"])
def test_an_order_beside_float32_gives_scipys_type(name):
    x = np.array([0.3], np.float32)
    # SciPy's Hermite polynomials refuse an order that is a float.
    for order in (2, np.int32(2), np.int64(2)) + (() if "hermite" in name else (2.0, np.float32(2))):
        for at in (x, x[0]):
            assert np.asarray(rg.jit(applied(name, order))(at)).dtype == of(name)(order, at).dtype, (type(order), np.ndim(at))


def test_counts_beside_float32_give_scipys_type():
    x = np.array([3.0], np.float32)
    for run in (lambda x: scipy.special.comb(x, 2), lambda x: scipy.special.comb(5, x), lambda x: scipy.special.comb(x, x), lambda x: scipy.special.factorial(x), lambda x: scipy.special.multigammaln(x, 2)):
        for at in (x, x[0]):
            assert np.asarray(rg.jit(run)(at)).dtype == np.asarray(run(at)).dtype


def test_orders_and_unknown_keywords_are_refused_by_name():
    def order(x):
        return np.sum(scipy.special.jv(x, 2.0 * x))

    def large(x):
        return np.sum(scipy.special.iv(60.5, x))

    def unknown(x):
        return np.sum(scipy.special.voigt_profile(x, 1.0, 1.0))

    def exact(x):
        return np.sum(scipy.special.comb(x, 2.0, exact=True))

    for f, words in [
        (order, "traced order"),
        (large, "the order 60.5"),
        (unknown, "scipy.special.voigt_profile is not supported"),
        (exact, "exact=True"),
    ]:
        with pytest.raises(rg.Unsupported, match=words) as caught:
            rg.grad(f)(np.array([0.5, 1.5]))
        assert caught.value.pos[0] == __file__


def test_every_function_of_the_table_is_here():
    listed = {name.split(".")[1] for name in table.RULES if name.startswith("special.")}
    elsewhere = {"lambertw", "zeta", "comb", "factorial", "multigammaln", "logsumexp", "softmax", "log_softmax", "jn"}
    elsewhere |= set(TUPLES)
    assert listed - set(POINTS) - set(OF_ORDER) == elsewhere
