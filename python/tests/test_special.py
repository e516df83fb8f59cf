"""Every function of the tables at special points: ties, zeros, equal arguments, infinities, NaN, singular matrices, lengths 0 and 1.

Values are NumPy's. Derivatives of orders 1 and 2 are those of differences, wherever these see a smooth function. A function that is new in the
tables is tested here without a line, if it is elementwise; else `test_every_function_is_here` asks for one, or for samples in `table.py`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from table import SAMPLES

import retrograd as rg
from retrograd import functions, rules

jax.config.update("jax_enable_x64", True)
inf, nan = np.inf, np.nan
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, inf, -inf, nan]

# Of integers, or without a derivative anywhere.
BITS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.gcd, np.lcm, np.ldexp}
UFUNCS = [function for function in functions.UFUNCS if function not in BITS and function.signature is None]


def same(found, expected, tolerance=4e-15):
    """Equal up to roundings; infinities by their sign, NaN as NaN. An infinite difference is none where both are the same."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def judge(value, derivative, at, direction):
    """Where differences of `value` along a direction see a smooth function, its derivative is finite and equals them; how many do."""
    points = {k * h: np.asarray(value(*(x + k * h * dx for x, dx in zip(at, direction))), float) for h in (1e-3, 3e-4) for k in (-2, -1, 1, 2)}
    middle, found = np.asarray(value(*at), float), np.asarray(derivative, float)
    with np.errstate(all="ignore"):
        slope = lambda h: (8 * (points[h] - points[-h]) - (points[2 * h] - points[-2 * h])) / (12 * h)
        far, near, h = slope(1e-3), slope(3e-4), 3e-4
        left, right = (3 * middle - 4 * points[-h] + points[-2 * h]) / (2 * h), (4 * points[h] - points[2 * h] - 3 * middle) / (2 * h)
        scale = np.maximum(np.abs(near), 1.0)
        smooth = (np.abs(far - near) <= 1e-6 * scale) & (np.abs(left - right) <= 5e-5 * scale) & np.isfinite(middle)
        wrong = smooth & ~(np.abs(found - near) <= 1e-4 * scale)
    assert not np.any(wrong), f"{found[wrong]} should be {near[wrong]} at {[np.broadcast_to(x, wrong.shape)[wrong] for x in at]}"
    return np.sum(smooth)


def named(f):
    """What is traced is a `def`."""

    def run(*args):
        return f(*args)

    return run


def grid(count):
    """All combinations of special numbers."""
    return [x.ravel() for x in np.meshgrid(*[SPECIAL] * count)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", UFUNCS, ids=lambda function: function.__name__)
def test_values_of_ufuncs_are_numpys(function):
    args = grid(function.nin)
    found, expected = rg.jit(named(function))(*args), function(*args)
    for a, b in zip(found, expected) if function.nout > 1 else [(found, expected)]:
        assert np.asarray(a).dtype == b.dtype
        same(a, b)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [f for f in UFUNCS if f.nout == 1], ids=lambda function: function.__name__)
def test_derivatives_of_ufuncs_are_those_of_differences(function):
    # A difference along another argument would change the sign of -0.
    usable = np.all([np.isfinite(x) & ~((x == 0) & np.signbit(x)) for x in grid(function.nin)], axis=0)
    args = [x[usable] for x in grid(function.nin)]
    if function(*args).dtype != np.float64:
        return
    every = tuple(range(function.nin))
    total = named(lambda *args: np.sum(function(*args)))
    first = rg.grad(total, argnums=every)
    gradients, judged = first(*args), 0
    for k in every:
        unit = [float(j == k) for j in every]
        judged += judge(function, gradients[k], args, unit)
        # The gradient of argument k, differentiated by all of them.
        one = rg.grad(total, argnums=k)
        second = rg.grad(named(lambda *args: np.sum(one(*args))), argnums=every)(*args)
        for j in every:
            judge(one, second[j], args, [float(i == j) for i in every])
    assert judged > 0


# Of arrays


VECTORS = {
    "zeros": np.zeros(4), "ties": np.array([1.0, 2.0, 2.0, 1.0]), "equal": np.full(3, 2.5), "one": np.array([-1.5]), "none": np.zeros(0),
    "nan": np.array([1.0, nan, 3.0]), "infinite": np.array([1.0, inf, -2.0]), "lowest": np.array([-inf, -inf]), "zero": np.array([2.0, 0.0, -3.0]),
}
MATRICES = {
    "singular": np.arange(1.0, 10.0).reshape(3, 3), "rank 1": np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0]), "zeros": np.zeros((3, 3)),
    "identity": np.eye(3), "nearly singular": np.arange(1.0, 10.0).reshape(3, 3) + 1e-9 * np.eye(3), "one": np.array([[2.0]]),
    "batch": np.stack([np.zeros((2, 2)), np.ones((2, 2)), np.array([[2.0, 1.0], [1.0, 3.0]])]), "none": np.zeros((0, 0)),
}

# Functions of one array, with keywords.
OF_VECTORS = {
    np.sum: [{}], np.mean: [{}], np.prod: [{}], np.max: [{}], np.min: [{}], np.amax: [{}], np.amin: [{}], np.any: [{}], np.all: [{}],
    np.var: [{}, {"ddof": 1}], np.std: [{}, {"ddof": 1}], np.ptp: [{}], np.median: [{}], np.average: [{}], np.nansum: [{}],
    np.count_nonzero: [{}], np.argmax: [{}], np.argmin: [{}], np.cumsum: [{}], np.cumprod: [{}], np.sort: [{}], np.argsort: [{"kind": "stable"}],
    np.diff: [{}, {"n": 2}], np.trapezoid: [{}], np.flip: [{}], np.nan_to_num: [{}], np.round: [{}, {"decimals": 1}], np.around: [{}],
    np.clip: [{"a_min": 0.0, "a_max": 2.0}, {"a_min": 2.0, "a_max": 2.0}], np.roll: [{"shift": 1}], np.copy: [{}],
    np.zeros_like: [{}], np.ones_like: [{}], np.real: [{}], np.atleast_1d: [{}], np.atleast_2d: [{}], np.ravel: [{}],
    np.tile: [{"reps": 2}], np.repeat: [{"repeats": 2}], np.full_like: [{"fill_value": 2.0}], np.transpose: [{}], np.flipud: [{}],
    np.fix: [{}], np.linalg.norm: [{}, {"ord": 1}, {"ord": inf}], np.squeeze: [{}], np.pad: [{"pad_width": 1}], np.expand_dims: [{"axis": 0}], np.empty_like: [],
    np.nanmax: [{}], np.nanmin: [{}], np.nanmean: [{}], np.nanvar: [{}, {"ddof": 1}], np.nanstd: [{}], np.nanprod: [{}], np.nancumsum: [{}], np.nancumprod: [{}], np.nanmedian: [{}], np.nanargmax: [{}],
    np.nanargmin: [{}], np.quantile: [{"q": 0.3}, {"q": 0.5, "method": "hazen"}], np.percentile: [{"q": 60.0}], np.nanquantile: [{"q": 0.3}], np.nanpercentile: [{"q": 60.0}], np.cumulative_sum: [{}],
    np.cumulative_prod: [{"include_initial": True}], np.ediff1d: [{}], np.gradient: [{}], np.unwrap: [{}], np.sinc: [{}], np.i0: [{}], np.isposinf: [{}], np.isneginf: [{}], np.imag: [{}], np.angle: [{}],
    np.vander: [{"N": 3}], np.partition: [{"kth": 0}], np.resize: [{"new_shape": 5}], np.rot90: [],
}
# Functions of one matrix.
OF_MATRICES = {
    np.linalg.det: [{}], np.linalg.slogdet: [{}], np.linalg.inv: [{}], np.linalg.qr: [{}], np.linalg.cholesky: [{}], np.trace: [{}],
    np.tril: [{}], np.triu: [{}], np.fliplr: [{}],
}
# Functions of two vectors of equal length.
OF_TWO = {np.dot: [{}], np.inner: [{}], np.outer: [{}], np.vdot: [{}], np.convolve: [{}], np.correlate: [{}], np.append: [{}], np.kron: [{}], np.polyval: [{}], np.interp: [], np.isclose: [{}]}
# What only moves elements, or has a form of its own, by a call.
CALLS = {
    np.where: lambda x: np.where(x > 0, x, 2.0 * x), np.reshape: lambda x: np.reshape(x, (-1, 1)), np.swapaxes: lambda x: np.swapaxes(x[None], 0, 1),
    np.broadcast_to: lambda x: np.broadcast_to(x, (2,) + x.shape), np.concatenate: lambda x: np.concatenate([x, x]),
    np.stack: lambda x: np.stack([x, 2.0 * x]), np.hstack: lambda x: np.hstack([x, x]), np.vstack: lambda x: np.vstack([x, x]),
    np.column_stack: lambda x: np.column_stack([x, x * x]), np.select: lambda x: np.select([x > 1.0, x > 0.0], [x, x * x], 0.5),
    np.meshgrid: lambda x: np.meshgrid(x, x)[0], np.broadcast_arrays: lambda x: np.broadcast_arrays(x, x[:1])[0], np.split: lambda x: np.split(x, 1)[0],
    np.moveaxis: lambda x: np.moveaxis(x[None], 0, 1), np.take: lambda x: np.take(x, np.arange(len(x))),
    np.take_along_axis: lambda x: np.take_along_axis(x, np.argsort(x, kind="stable"), 0), np.linspace: lambda x: np.linspace(x, 2.0 * x, 3),
    np.einsum: lambda x: np.einsum("i,i->i", x, x), np.tensordot: lambda x: np.tensordot(x, x, 1), np.cross: lambda x: np.cross(np.stack([x, x + 1, x], -1), np.stack([x, x, x], -1)),
}
# Not of numbers; and those whose arguments come in pairs, below.
OTHERS = {np.shape, np.ndim, np.size, np.linalg.solve}
# What only moves or replaces elements.
MOVES = {
    "array_split", "astype", "atleast_3d", "copyto", "diag", "diag_indices_from", "diagflat", "diagonal", "dsplit", "fill_diagonal", "hsplit", "matrix_transpose", "place", "put",
    "put_along_axis", "putmask", "real_if_close", "rollaxis", "rot90", "unstack", "vsplit",
}


def test_every_function_is_here():
    known = {*OF_VECTORS, *OF_MATRICES, *OF_TWO, *CALLS, *OTHERS}
    missing = [f.__name__ for f in rules.FUNCTIONS if f not in known and f.__name__ not in MOVES and rules.name_of(f) not in SAMPLES]
    assert not missing, f"a table of special points wants {missing}"


# No value of these is within roundings of another's where columns depend on each other, or nearly.
ILL_POSED = {(function, name) for function in ("inv", "slogdet", "qr") for name in ("singular", "nearly singular", "rank 1")}
# Zeros beyond the ends are multiplied, too.
ILL_POSED |= {("convolve", name) for name in ("nan", "infinite", "lowest")}


def is_well_posed(request):
    return not any(request.node.callspec.id.startswith(f"{function}-{name}") for function, name in ILL_POSED)


def outcome(f, *args):
    """The floats of a result, and None where there is an error."""
    try:
        result = f(*args)
    except (ValueError, IndexError, ZeroDivisionError, np.linalg.LinAlgError, rg.Error) as error:
        return None, error
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(part) for part in parts], None


def cases():
    for table, arrays in ((OF_VECTORS, VECTORS), (OF_MATRICES, MATRICES), (OF_TWO, VECTORS), (CALLS, VECTORS)):
        for function, forms in table.items():
            for form in [None] if callable(forms) else forms:
                for name, x in arrays.items():
                    if table is OF_TWO:
                        f = lambda x, function=function: function(x, x[::-1] * 1.0)
                    elif form is None:
                        f = forms
                    else:
                        f = lambda x, function=function, form=form: function(x, **form)
                    label = f"{function.__name__}-{name}" + "".join(f"-{key}={value}" for key, value in (form or {}).items())
                    yield pytest.param(f, x, id=label)


CASES = list(cases())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f, x", CASES)
def test_values_of_arrays_are_numpys(request, f, x):
    expected, refused = outcome(f, x.copy())
    found, error = outcome(rg.jit(named(f)), x.copy())
    if expected is None:
        # NumPy raises where a matrix is singular; ours may say so by infinities and NaN.
        assert error is not None or isinstance(refused, np.linalg.LinAlgError)
        return
    assert error is None, error
    for a, b in zip(found, expected, strict=True) if is_well_posed(request) else ():
        same(a, b, 1e-9 if x.ndim > 1 else 4e-15)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f, x", CASES)
def test_derivatives_of_arrays_are_those_of_differences(request, f, x):
    result, error = outcome(f, x.copy())
    if error is not None or not is_well_posed(request) or not np.all(np.isfinite(x)) or not x.size:
        return
    floats = [k for k, part in enumerate(result) if part.dtype == np.float64]
    if not floats:
        return
    weights = [np.cos(1.0 + np.arange(result[k].size)).reshape(result[k].shape) for k in floats]
    part = lambda y, k: y[k] if isinstance(y, tuple) else y

    def loss(x):
        y = f(x)
        total = 0.0
        for k, w in zip(floats, weights):
            total = total + np.sum(part(y, k) * w)
        return total

    direction, other = (np.sin(s + np.arange(x.size)).reshape(x.shape) for s in (2.0, 5.0))
    first = rg.grad(named(loss))
    judge(loss, np.sum(first(x) * direction), [x], [direction])
    along = named(lambda x: np.sum(first(x) * other))
    judge(along, np.sum(rg.grad(along)(x) * direction), [x], [direction])
    judge(along, np.sum(rg.jvp(first, (x,), (direction,))[1] * other), [x], [direction])


# Exact values


def test_a_logistic_loss_has_its_hessian_at_ties():
    assert rg.hessian(named(lambda x: np.logaddexp(0.0, x)))(0.0) == 0.25
    hessian = rg.hessian(named(lambda w: np.sum(np.logaddexp(0.0, np.array([[1.0, 2.0], [3.0, -1.0]]) @ w))))(np.zeros(2))
    np.testing.assert_array_equal(hessian, [[2.5, -0.25], [-0.25, 1.25]])
    for function in (np.logaddexp, np.logaddexp2):
        reference = jax.hessian(lambda x: getattr(jnp, function.__name__)(x[0], x[1]))
        np.testing.assert_allclose(rg.hessian(named(lambda x: function(x[0], x[1])))(np.array([1.5, 1.5])), reference(np.array([1.5, 1.5])), atol=1e-15)


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
@pytest.mark.parametrize("a, b, value, gradient", [
    (-inf, -inf, -inf, (0.5, 0.5)), (inf, inf, inf, (0.5, 0.5)), (-inf, 2.0, 2.0, (0.0, 1.0)), (inf, -inf, inf, (1.0, 0.0)), (3.0, inf, inf, (0.0, 1.0)),
])
def test_sums_of_infinite_powers(function, a, b, value, gradient):
    assert rg.value_and_grad(named(function), argnums=(0, 1))(a, b) == (value, gradient)
    assert np.all(np.isfinite(rg.hessian(named(lambda x: function(x[0], x[1])))(np.array([a, b]))))


def expanded(a):
    """The determinant by expansion: a polynomial, exact for small integers."""
    if len(a) == 0:
        return 1.0
    return sum((-1) ** j * a[0][j] * expanded([[*row[:j], *row[j + 1 :]] for row in a[1:]]) for j in range(len(a)))


@pytest.mark.parametrize("name", [name for name, x in MATRICES.items() if x.ndim == 2])
def test_hessians_of_determinants_are_exact(name):
    a = MATRICES[name]
    tolerance = 1e-13
    expected = jax.hessian(lambda a: expanded([[a[i, j] for j in range(len(a))] for i in range(len(a))]))(a)
    for hessian in (rg.hessian(named(np.linalg.det)), rg.jacfwd(rg.grad(named(np.linalg.det))), rg.jacrev(rg.grad(named(np.linalg.det))), rg.jacfwd(rg.jacfwd(named(np.linalg.det)))):
        np.testing.assert_allclose(hessian(a), expected, atol=tolerance)


def test_third_derivatives_of_determinants_are_exact():
    third = rg.jacfwd(rg.hessian(named(np.linalg.det)))(np.zeros((3, 3)))
    assert third[0, 0, 1, 1, 2, 2] == 1.0 and third[0, 1, 1, 0, 2, 2] == -1.0 and np.sum(np.abs(third)) == 36.0


def test_the_entry_of_a_singular_hessian():
    hessian = rg.hessian(named(np.linalg.det))(np.arange(1.0, 10.0).reshape(3, 3))
    np.testing.assert_allclose(hessian[0, 0], [[0, 0, 0], [0, 9, -8], [0, -6, 5]], atol=1e-13)


@pytest.mark.parametrize("x", [[4.0], [2.0, 2.0, 2.0]])
def test_the_deviation_of_equal_elements_is_0_and_so_is_its_gradient(x):
    value, gradient = rg.value_and_grad(named(np.std))(np.array(x))
    assert value == 0.0
    np.testing.assert_array_equal(gradient, np.zeros(len(x)))
    np.testing.assert_array_equal(rg.hessian(named(np.std))(np.array(x)), np.zeros((len(x), len(x))))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("exponent", [-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 0.3, -0.3, 65.0])
def test_powers_at_special_points(exponent):
    x = np.array([-inf, inf, nan, 0.0, -0.0, 1.0, -1.0, 2.0, 1e-110, 1e110])
    found, expected = rg.jit(named(lambda x: x**exponent))(x), x**exponent
    same(found, expected, 1e-14)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))
    # JAX has the derivatives of powers at 0 right.
    gradient, reference = rg.grad(named(lambda x: x**exponent)), jax.grad(lambda x: x**exponent)
    second, other = rg.grad(gradient), jax.grad(reference)
    if exponent != 0:
        # As NumPy's numbers: of Python's own, 0.0**-1 is an error.
        for at in (0.0, 2.0):
            same(gradient(np.float64(at)), reference(at), 1e-13)
            same(second(np.float64(at)), other(at), 1e-13)
