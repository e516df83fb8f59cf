"""Every NumPy function of the tables: its value against NumPy, its gradient against JAX."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from oracle import close, copies

import retrograd as rg
from retrograd import functions

rng = np.random.default_rng(5)
x, y = rng.uniform(-2, 2, size=6), rng.uniform(-2, 2, size=6)
m = rng.uniform(-2, 2, size=(3, 4))
inside, above = rng.uniform(-0.9, 0.9, size=6), rng.uniform(1.1, 3.0, size=6)
positive = rng.uniform(0.2, 3.0, size=6)
ints = np.array([3, -7, 2, 5, -4, 6])

CASES = []


def case(name, f, *args, reference=None):
    CASES.append(pytest.param(name, f, args, reference, id=name))


def source(expression, parameters):
    """A function with a source that can be read, since lambdas have none."""
    scope = {"np": np, "rg": rg, "scipy": scipy}
    name = f"<case {len(CASES)}>"
    text = f"def f({parameters}):\n    return {expression}\n"
    exec(compile(text, name, "exec"), scope)
    import linecache

    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return scope["f"]


def expression(name, text, *args, **options):
    case(name, source(text, ", ".join("abc"[: len(args)])), *args, **options)


DOMAINS = {"arcsin": inside, "arccos": inside, "arctanh": inside, "arccosh": above, "log1p": inside}
for name in ["log", "log2", "log10", "sqrt"]:
    DOMAINS[name] = positive
for function in [*functions.FLOATS, np.absolute, np.sign, np.floor, np.ceil, np.trunc, np.reciprocal, np.isinf, np.signbit, np.deg2rad, np.rad2deg, np.square]:
    expression(function.__name__, f"np.{function.__name__}(a)", DOMAINS.get(function.__name__, x))
for name in ["maximum", "minimum", "fmax", "fmin", "hypot", "arctan2", "fmod", "remainder", "floor_divide", "logaddexp", "logaddexp2", "copysign", "heaviside"]:
    expression(name, f"np.{name}(a, b)", x, y)
for name in ["maximum", "minimum", "absolute", "sign", "fmod", "remainder", "floor"]:
    unary = name in ("absolute", "sign", "floor")
    expression(f"{name}_of_integers", f"np.{name}(a)" if unary else f"np.{name}(a, 4)", ints)
for name in ["erf", "erfc", "expit"]:
    case(name, source(f"scipy.special.{name}(a)", "a"), x, reference=lambda a, name=name: getattr(jax.scipy.special, name)(a))
expression("power", "np.power(a, b)", positive, y)
expression("power_by_number", "a ** 2.7 + a ** -0.3", positive)
expression("power_of_number", "2.5 ** a", x)
for name in ["prod", "max", "min", "var", "std", "mean", "sum", "ptp"]:
    expression(name, f"np.{name}(a)", m)
    expression(f"{name}_axis", f"np.{name}(a, axis=1) + np.{name}(a, axis=-1, keepdims=True)[:, 0]", m)
expression("var_ddof", "np.var(a, axis=0, ddof=1)", m)
expression("any", "np.any(a > 1.0, axis=0)", m)
expression("all", "np.all(a > -1.0, axis=1)", m)
expression("argmax", "np.argmax(a, axis=1) + np.argmax(a)", m)
expression("argmin", "np.argmin(a, axis=0)", m)
expression("count_nonzero", "np.count_nonzero(a > 0)", m)
expression("average", "np.average(a, weights=b)", x, positive)
expression("nansum", "np.nansum(a)", np.array([1.0, np.nan, 2.0]))
case("logsumexp", source("rg.logsumexp(a, axis=1)", "a"), m, reference=lambda a: jax.scipy.special.logsumexp(a, axis=1))
expression("cumsum", "np.cumsum(a, axis=1)", m)
expression("cumprod", "np.cumprod(a)", m)
expression("sort", "np.sort(a, axis=0)", m)
expression("argsort", "np.argsort(a)", m)
expression("median", "np.median(a, axis=0)", m)
expression("diff", "np.diff(a, axis=0) [:, :3] * np.diff(a[:2], n=1)", m)
expression("trapezoid", "np.trapezoid(a, dx=0.5) + np.trapezoid(a, b)", x, positive)
expression("take", "np.take(a, np.array([0, -1, 2]), axis=1)", m)
expression("take_along_axis", "np.take_along_axis(a, np.array([[0], [2], [-1]]), axis=1)", m)
expression("index_array", "a[np.array([2, 0, 2])] + a[:, np.array([1, 2, 3, -1])][np.array([0, 1, 1])]", m)
expression("flip", "np.flip(a, 0) + np.flip(a) + np.flipud(a) + np.fliplr(a)", m)
expression("roll", "np.roll(a, 2, axis=1) + np.roll(a, -1) + np.roll(a, (1, 2), (0, 1))", m)
expression("pad", "np.pad(a, ((1, 2), (0, 3)), constant_values=1.5)", m)
expression("pad_edge", "np.pad(a, 2, mode='edge') + np.pad(a, 2, mode='wrap') * np.pad(a, 2, mode='reflect')", m)
expression("clip", "np.clip(a, -0.5, 1.0) + np.clip(a, None, 1.0) + np.clip(a, -0.2, None)", m)
expression("tril", "np.tril(a) + np.triu(a, 1) * 2.0", m)
expression("moveaxis", "np.moveaxis(a, 0, -1)", m)
expression("tile", "np.tile(a, (2, 3))", m)
expression("repeat", "np.repeat(a, 2, axis=1)", m)
expression("repeat_each", "np.repeat(a, np.array([1, 0, 2, 1]), axis=1)", m)
for mode in ("full", "same", "valid"):
    expression(f"convolve {mode}", f"np.convolve(a, b[:3], mode='{mode}')", x, y)
    expression(f"convolve by a longer one {mode}", f"np.convolve(a[:2], b, mode='{mode}')", x, y)
    expression(f"correlate {mode}", f"np.correlate(a, b[:3], mode='{mode}')", x, y)
    expression(f"correlate with a longer one {mode}", f"np.correlate(a[:2], b, '{mode}')", x, y)
    expression(f"convolve many {mode}", f"np.convolve(a, b, '{mode}')", np.linspace(-1.0, 2.0, 60), np.cos(np.arange(33.0)))
expression("convolve with itself", "np.convolve(a, a)", x)
expression("convolve with a known one", "np.convolve(np.array([1.0, -2.0, 1.0]), a, 'same')", x)
expression("outer", "np.outer(a, b)", x, y)
expression("nan_to_num", "np.nan_to_num(a)", np.array([1.0, np.nan, -np.inf, np.inf]))
expression("round", "np.round(a, 1) * a", m)
expression("linspace", "np.linspace(a, b, 5)", 0.5, 2.5)
expression("stacks", "np.hstack([a, b]) * np.vstack([a, b])[0, 0] + np.column_stack([a, b]).ravel()", x, y)
expression("append", "np.append(a, b)", x, m)
expression("split", "np.split(a, 2)[1] * np.split(a, [3])[0]", x)
expression("select", "np.select([a > 1, a > 0], [a * 2, a * a], 3.0)", x)
expression("meshgrid", "np.meshgrid(a, b)[0] * np.meshgrid(a, b, indexing='ij')[1].T", x, y[:4])
expression("atleast", "np.atleast_2d(a) * np.atleast_1d(b)", x, 2.0)
expression("methods", "a.clip(-1.0, 1.0) * a.var() + a.std(axis=0)", m)
expression("creations", "a * np.ones(6) + np.eye(6)[2] * a + np.arange(6) * np.linspace(0.0, 1.0, 6) + np.zeros_like(a) + np.full(6, a[0])", x)


def case_of_statements(f):
    CASES.append(pytest.param(f.__name__, f, f.arguments, f.reference, id=f.__name__))


def arguments(*args, reference):
    def keep(f):
        f.arguments, f.reference = args, reference
        case_of_statements(f)
        return f

    return keep


@arguments(x, reference=lambda a: a.at[jnp.array([0, 2, 0])].add(a[:3]))
def at_add(a):
    b = a.copy()
    np.add.at(b, np.array([0, 2, 0]), a[:3])
    return b


@arguments(x, reference=lambda a: a.at[jnp.array([0, 2])].max(a[3:5]))
def at_maximum(a):
    b = a.copy()
    np.maximum.at(b, [0, 2], a[3:5])
    return b


@arguments(m, reference=lambda a: a.at[:, jnp.array([0, 2])].set(a[:, 1:3] ** 2))
def index_store(a):
    b = a.copy()
    b[:, [0, 2]] = a[:, 1:3] ** 2
    return b


@arguments(m, reference=lambda a: jnp.where(a < 0, 0.5, a) * a)
def mask_store(a):
    b = a.copy()
    b[b < 0] = 0.5
    return b * a


def weighted(f, args):
    """A float result as one number, with different weights for its elements; None where it has no gradient."""
    value = np.asarray(f(*copies(args)))
    return np.cos(np.arange(value.size)).reshape(value.shape) if value.dtype.kind == "f" else None


def summed(f, weights):
    def loss(*args):
        return np.sum(f(*args) * weights)

    return loss


@pytest.mark.parametrize("name, f, args, reference", CASES)
def test_value_is_numpys_and_gradient_is_jaxs(name, f, args, reference):
    with np.errstate(all="ignore"):
        expected, weights = f(*copies(args)), weighted(f, args)
    found = rg.jit(f)(*args)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    close(found, expected)
    argnums = tuple(k for k, arg in enumerate(args) if np.asarray(arg).dtype == np.float64)
    if weights is None or not argnums or name in ("nansum", "nan_to_num", "heaviside", "floor_divide"):
        return
    plain = reference or types.FunctionType(f.__code__, {**f.__globals__, "np": jnp})
    gradients = jax.grad(lambda *args: jnp.sum(plain(*args) * weights), argnums)(*args)
    for a, b in zip(rg.grad(summed(f, weights), argnums)(*args), gradients):
        close(a, b, 1e-10)


def test_awkward_values_are_numpys():
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])

    def f(a, b):
        return (
            np.maximum(a, b), np.fmax(a, b), np.fmin(a, b), np.sign(a), np.isnan(a), np.isinf(a), np.isfinite(a), np.signbit(a), np.copysign(2.0, a),
            np.logaddexp(a, 1.0), np.heaviside(a, 0.5), np.remainder(a, 2.0), np.floor_divide(7.5, b), np.arctan2(a, b), np.hypot(a, b),
        )

    with np.errstate(all="ignore"):
        expected = f(special, special[::-1].copy())
    for a, b in zip(rg.jit(f)(special, special[::-1].copy()), expected):
        np.testing.assert_array_equal(a, b)
