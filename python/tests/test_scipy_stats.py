"""`scipy.stats` inside of traced functions: every row of the table, its methods, parameters, edges and frozen forms, against SciPy and differences."""

import numpy as np
import pytest
import scipy.stats

from test_scipy_arrays import check_case

import retrograd as rg
from retrograd.scipy import descriptive, distributions, multivariate, stats, table  # noqa: F401, fills the table of classes

inf, nan = np.inf, np.nan
# Shapes of each distribution, and points inside of its support.
SHAPES = {
    "t": [3.5],
    "gamma": [2.3],
    "beta": [2.3, 0.7],
    "lognorm": [0.8],
    "weibull_min": [1.7],
    "chi2": [3.4],
    "invgamma": [2.5],
    "pareto": [2.2],
    "poisson": [3.2],
    "binom": [7.0, 0.3],
    "bernoulli": [0.3],
    "geom": [0.3],
    "nbinom": [4.0, 0.4],
    "f": [3.5, 5.2],
    "truncnorm": [-1.4, 2.9],
    "genpareto": [0.3],
    "genextreme": [0.2],
    "triang": [0.35],
    "powerlaw": [1.7],
    "chi": [2.6],
    "invgauss": [1.3],
    "skewnorm": [1.5],
    "vonmises": [1.2],
}
CONTINUOUS = [name for name, row in stats.TABLE.items() if not row.discrete]
DENSITIES = [name for name in CONTINUOUS if "cdf" not in stats.TABLE[name].given]  # those without a distribution function
DISCRETE = [name for name, row in stats.TABLE.items() if row.discrete]


def points(name):
    low, high = getattr(scipy.stats, name)(*SHAPES.get(name, ())).support()
    return (
        np.array([0.2, 0.5, 0.8])
        if high == 1
        else low + np.array([0.3, 1.1, 2.7])
        if low > -inf
        else np.array([-2.0, 0.3, 1.5])
    )


def difference(f, x, h=1e-3):
    step = h * max(abs(x), 0.1)
    return (
        45 * (f(x + step) - f(x - step)) - 9 * (f(x + 2 * step) - f(x - 2 * step)) + (f(x + 3 * step) - f(x - 3 * step))
    ) / (60 * step)


@pytest.mark.parametrize(
    "name, method",
    [
        pytest.param(name, method, marks=pytest.mark.slow if name in ("beta", "t", "f") and method in ("ppf", "isf") else ())
        for name in CONTINUOUS
        for method in ("pdf", "logpdf", *(() if name in DENSITIES else ("cdf", "logcdf", "sf", "logsf", "ppf", "isf")))
    ],
)
def test_continuous(name, method):
    dist = getattr(scipy.stats, name)
    shapes = SHAPES.get(name, [])
    x = points(name) if method not in ("ppf", "isf") else np.array([0.1, 0.4, 0.93])
    loc, scale = (0.0, 1.0) if method in ("ppf", "isf") or name == "pareto" else (0.05, 0.9)
    args = [np.array(s) for s in (*shapes, loc, scale)]

    def total(x, *args):
        return np.sum(np.sin(getattr(dist, method)(x, *args)))

    found, gradients = rg.value_and_grad(total, argnums=tuple(range(len(args) + 1)))(x, *args)
    np.testing.assert_allclose(found, total(x, *args), rtol=1e-12)
    for k, arg in enumerate(args):
        expected = difference(lambda t: total(x, *args[:k], t, *args[k + 1 :]), float(arg))
        np.testing.assert_allclose(gradients[k + 1], expected, rtol=1e-6, atol=1e-7)
    expected = [difference(lambda t: total(np.where(np.arange(3) == j, t, x), *args), float(x[j])) for j in range(3)]
    np.testing.assert_allclose(gradients[0], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "name, method",
    [
        pytest.param(name, method, marks=pytest.mark.slow if name in ("binom", "nbinom") and method in ("logcdf", "logsf") else ())
        for name in DISCRETE
        for method in ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf")
    ],
)
def test_discrete(name, method):
    dist = getattr(scipy.stats, name)
    k = np.array([-1, 0, 1, 2, 9]) if method not in ("logpmf", "logcdf", "logsf") else np.array([1])
    if method == "logsf" and name == "bernoulli":
        k = np.array([0])
    *fixed, last = SHAPES[name]

    def total(p):
        return np.sum(np.sin(getattr(dist, method)(k, *fixed, p)))

    found, gradient = rg.value_and_grad(total)(np.array(last))
    np.testing.assert_allclose(found, total(last), rtol=1e-12)
    np.testing.assert_allclose(gradient, difference(total, last), rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", stats.TABLE)
def test_edges_are_scipys(name):
    dist = getattr(scipy.stats, name)
    shapes = SHAPES.get(name, [])
    x = np.array([-inf, -1.0, 0.0, 0.5, 1.0, 2.0, 30.0, inf, nan])
    methods = ["pdf", "logpdf"] if name in DENSITIES else ["pdf", "logpdf", "cdf", "sf"] if name in CONTINUOUS else ["pmf", "logpmf", "cdf", "sf"]
    for method in methods:

        def run(x, method=method):
            return getattr(dist, method)(x, *shapes)

        found, expected = rg.jit(run)(x), run(x)
        assert found.dtype == expected.dtype
        # At infinity ours is the limit, where SciPy's arithmetic gives NaN for some.
        found, expected = (np.where(np.isinf(x) & np.isnan(expected), 0.0, value) for value in (found, expected))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300, err_msg=method)
    if name in CONTINUOUS and name not in DENSITIES:
        q = np.array([-0.1, 0.0, 0.5, 1.0, 1.1, nan])
        np.testing.assert_allclose(rg.jit(lambda q: dist.ppf(q, *shapes))(q), dist.ppf(q, *shapes), rtol=1e-12)
        # A scale or a shape that is not allowed gives NaN, as in SciPy.
        assert np.all(np.isnan(rg.jit(lambda s: dist.pdf(0.5, *shapes, 0.0, s))(np.array([-1.0, 0.0]))))


@pytest.mark.parametrize("name", ["norm", "gamma", "expon"])
def test_second_derivatives(name):
    dist, shapes = getattr(scipy.stats, name), SHAPES.get(name, [])

    def total(p):
        return np.sum(dist.logpdf(points(name), *[s + p[2] for s in shapes], loc=p[0], scale=p[1]))

    p = np.array([0.1, 1.2, 0.05])
    found = rg.hessian(total)(p)
    gradient = rg.grad(total)
    expected = np.array(
        [
            [difference(lambda t: gradient(np.where(np.arange(3) == j, t, p))[i], p[j], 1e-2) for j in range(3)]
            for i in range(3)
        ]
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9)


PRIOR = scipy.stats.norm(loc=0.5, scale=2.0)
COUNTS = scipy.stats.binom(10, 0.3)
VECTOR = scipy.stats.multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])


def test_frozen_distributions():
    def outside(x):
        return np.sum(PRIOR.logpdf(x) + PRIOR.cdf(x))

    def inside(x, m):
        frozen = scipy.stats.norm(loc=m, scale=2.0)
        return np.sum(frozen.logpdf(x)) + np.sum(scipy.stats.gamma(a=m + 2.0).sf(np.abs(x)))

    x = np.array([0.3, -1.0])
    np.testing.assert_allclose(rg.grad(outside)(x), -(x - 0.5) / 4 + PRIOR.pdf(x), rtol=1e-13)
    np.testing.assert_allclose(rg.jit(inside)(x, 0.5), inside(x, 0.5), rtol=1e-13)
    np.testing.assert_allclose(rg.grad(inside, argnums=1)(x, 0.5), difference(lambda m: inside(x, m), 0.5), rtol=1e-7)
    np.testing.assert_allclose(rg.jit(lambda k: COUNTS.pmf(k))(np.array([1, 3])), COUNTS.pmf([1, 3]), rtol=1e-13)


def test_vectors():
    mean, cov = np.array([0.1, -0.4]), np.array([[1.5, 0.3], [0.3, 0.8]])
    alpha = np.array([1.5, 2.0, 3.0])

    def normal(x, mean, cov):
        return (
            np.sum(scipy.stats.multivariate_normal.logpdf(x, mean, cov))
            + np.sum(scipy.stats.multivariate_normal(mean, cov).pdf(x))
            + np.sum(VECTOR.logpdf(x))
        )

    def dirichlet(p, alpha):
        return scipy.stats.dirichlet.logpdf(p, alpha)

    for x in (np.array([0.5, 0.7]), np.arange(6.0).reshape(3, 2) / 5):
        found, (dx, dmean, dcov) = rg.value_and_grad(normal, argnums=(0, 1, 2))(x, mean, cov)
        np.testing.assert_allclose(found, normal(x, mean, cov), rtol=1e-13)
        for gradient, at, k in ((dx, x, 0), (dmean, mean, 1)):
            for index in np.ndindex(at.shape):

                def along(t):
                    moved = at.copy()
                    moved[index] = t
                    return normal(*[moved if j == k else value for j, value in enumerate((x, mean, cov))])

                np.testing.assert_allclose(gradient[index], difference(along, at[index]), rtol=1e-7, atol=1e-8)
        direction = np.array([[0.2, -0.5], [-0.5, 1.0]])
        expected = difference(lambda t: normal(x, mean, cov + t * direction), 0.0)
        np.testing.assert_allclose(np.sum(dcov * direction), expected, rtol=1e-7)
    np.testing.assert_allclose(
        rg.jit(lambda x: scipy.stats.multivariate_normal.logpdf(x, cov=2.0))(x[0]),
        scipy.stats.multivariate_normal.logpdf(x[0], cov=2.0),
    )
    p = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(rg.jit(dirichlet)(p, alpha), dirichlet(p, alpha), rtol=1e-13)
    expected = [difference(lambda t: dirichlet(p, np.where(np.arange(3) == k, t, alpha)), alpha[k]) for k in range(3)]
    np.testing.assert_allclose(rg.grad(dirichlet, argnums=1)(p, alpha), expected, rtol=1e-7)


@pytest.mark.parametrize("name, moment", [(name, moment) for name, row in stats.TABLE.items() for moment in ("mean", "var", "std", "entropy") if row.moments.get("var" if moment == "std" else moment)])
def test_moments(name, moment):
    dist, shapes = getattr(scipy.stats, name), SHAPES.get(name, [])
    parameters = [np.array(value) for value in (*shapes, 0.3, *([1.4] if name in CONTINUOUS else []))]
    run = lambda *args: getattr(dist, moment)(*args)
    found, gradients = rg.value_and_grad(run, argnums=tuple(range(len(parameters))))(*parameters)
    np.testing.assert_allclose(found, run(*parameters), rtol=1e-11)
    for k, value in enumerate(parameters[1:] if name == "binom" else parameters, int(name == "binom")):
        expected = difference(lambda t: run(*parameters[:k], t, *parameters[k + 1 :]), float(value))
        np.testing.assert_allclose(gradients[k], expected, rtol=1e-6, atol=1e-8)
    frozen = lambda *args: getattr(dist(*args), moment)()
    np.testing.assert_allclose(rg.jit(frozen)(*parameters), run(*parameters), rtol=1e-11)


sample, other, plane = np.array([0.3, 1.7, 0.9, 2.4, 1.1, 0.6]), np.array([1.0, 1.5, 0.2, 2.9, 0.8, 1.3]), np.array([[0.3, 1.7, 0.9], [2.4, 1.1, 0.6], [0.7, 1.9, 0.4], [1.3, 0.2, 2.2]])
st = scipy.stats
DESCRIPTIVE = {
    "gmean": [(lambda a: st.gmean(a), [sample]), (lambda a: st.gmean(a, axis=1), [plane]), (lambda a, w: st.gmean(a, weights=w), [sample, other])],
    "hmean": [(lambda a: st.hmean(a), [plane]), (lambda a, w: st.hmean(a, weights=w), [sample, other])],
    "pmean": [(lambda a: st.pmean(a, 3), [plane])],
    "moment": [(lambda a: st.moment(a, 3), [plane]), (lambda a: st.moment(a, 2, axis=None), [plane]), (lambda a: st.moment(a, [1, 2, 4]), [sample]), (lambda a, c: st.moment(a, 3, center=c), [sample, np.array(0.4)])],
    "skew": [(lambda a: st.skew(a), [plane]), (lambda a: st.skew(a, axis=None, bias=False), [plane])],
    "kurtosis": [(lambda a: st.kurtosis(a, axis=1), [plane]), (lambda a: st.kurtosis(a, fisher=False, bias=False), [sample])],
    "variation": [(lambda a: st.variation(a), [plane]), (lambda a: st.variation(a, ddof=1), [sample])],
    "sem": [(lambda a: st.sem(a), [plane]), (lambda a: st.sem(a, axis=None), [plane])],
    "zscore": [(lambda a: st.zscore(a), [plane]), (lambda a: st.zscore(a, axis=1, ddof=1), [plane])],
    "zmap": [(lambda a, b: st.zmap(a, b), [sample, other])],
    "gzscore": [(lambda a: st.gzscore(a), [plane])],
    "entropy": [(lambda p: st.entropy(p), [sample]), (lambda p, q: st.entropy(p, q, base=2), [sample, other]), (lambda p: st.entropy(p, axis=1), [plane])],
    "iqr": [(lambda a: st.iqr(a), [sample]), (lambda a: st.iqr(a, axis=1, rng=(10, 80)), [plane])],
    "trim_mean": [(lambda a: st.trim_mean(a, 0.2), [sample]), (lambda a: st.trim_mean(a, 0.3), [plane])],
    "pearsonr": [(lambda x, y: st.pearsonr(x, y)[0], [sample, other]), (lambda x, y: st.pearsonr(x, y).pvalue, [sample, other])],
    "linregress": [*[(lambda x, y, k=k: st.linregress(x, y)[k], [sample, other]) for k in range(5)], (lambda x, y: st.linregress(x, y).intercept_stderr, [sample, other])],
    "wasserstein_distance": [(lambda u, v: st.wasserstein_distance(u, v), [sample, other[:4]]), (lambda u, v, w: st.wasserstein_distance(u, v, w), [sample, other[:4], other])],
    "rankdata": [(lambda a: st.rankdata(a), [sample]), (lambda a: st.rankdata(np.round(a)), [plane]), (lambda a: 1.0 * st.rankdata(a, "max"), [plane])],
    "gaussian_kde": [
        (lambda a, x: st.gaussian_kde(a)(x), [sample, other]),
        (lambda a, x: st.gaussian_kde(a, "silverman").logpdf(x), [plane[:, :2].T, plane[:2, :2].T]),
        (lambda a, x, w: st.gaussian_kde(a, 0.4, w).pdf(x), [sample, other[:3], other]),
    ],
}


@pytest.mark.parametrize("name, k", [(name, k) for name, cases in DESCRIPTIVE.items() for k in range(len(cases))])
def test_statistics_of_samples(name, k):
    check_case(*DESCRIPTIVE[name][k], accuracy=1e-6)


def test_every_statistic_has_a_case():
    assert {name for name in table.RULES if name.startswith("stats.")} == {f"stats.{name}" for name in DESCRIPTIVE}


COV = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]])
VECTORS = {
    "entropy": (lambda m, a: st.multivariate_normal.entropy(m, a @ a.T), [plane[0], COV]),
    "entropy, called": (lambda m, a: st.multivariate_normal(m, a @ a.T).entropy(), [plane[0], COV]),
    "number": (lambda x: st.multivariate_normal.logpdf(x, cov=2.0), [sample]),
    "singular": (lambda x: st.multivariate_normal.logpdf(np.concatenate([x, np.zeros(1)]), np.zeros(3), np.diag([1.0, 2.0, 0.0]), allow_singular=True), [sample[:2]]),
    "t": (lambda x, m, a, df: st.multivariate_t.logpdf(x, m, a @ a.T, df), [plane, plane[0], COV, np.array(3.5)]),
    "t, frozen": (lambda x, m: st.multivariate_t(m, COV, 4).pdf(x), [plane, plane[0]]),
    "multinomial": (lambda p: st.multinomial.logpmf([[1, 2, 1], [0, 4, 0]], 4, p / np.sum(p)), [sample[:3]]),
    "wishart": (lambda a, b: st.wishart.logpdf(a @ a.T, 5.5, b @ b.T), [COV, COV + np.eye(3)]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_densities_of_vectors(name):
    check_case(*VECTORS[name], accuracy=1e-6)


def test_beside_the_support_of_a_singular_covariance_the_density_is_zero():
    run = lambda x: st.multivariate_normal.pdf(x, np.zeros(2), np.diag([1.0, 0.0]), allow_singular=True)
    np.testing.assert_array_equal(rg.jit(run)(np.array([0.3, 0.1])), run(np.array([0.3, 0.1])))


def test_what_is_not_there_is_refused_by_name():
    def steps(x):
        return np.sum(scipy.stats.poisson.ppf(0.3, x))

    def other(x):
        return np.sum(scipy.stats.exponnorm.pdf(x, 1.0))

    def keyword(x):
        return np.sum(scipy.stats.norm.pdf(x, sigma=1.0))

    def fit(x):
        return scipy.stats.norm.fit(x)[0]

    for f, words in [
        (steps, "step function"),
        (other, "pdf is not supported"),
        (keyword, "loc, scale"),
        (fit, "fit is not supported"),
    ]:
        with pytest.raises(rg.Error, match=words) as caught:
            rg.grad(f)(np.array([0.5, 1.5]))
        assert caught.value.pos[0] == __file__
