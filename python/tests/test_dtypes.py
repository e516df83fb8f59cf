"""Element types: values and dtypes as NumPy's own, gradients as JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import retrograd as rg

F32, F64, I32, I64 = np.float32, np.float64, np.int32, np.int64


def numbers(dtype, shape=(5,), seed=0):
    drawn = np.random.default_rng(seed).uniform(-3, 3, shape)
    return (drawn > 0) if dtype is np.bool_ else drawn.astype(dtype) if np.dtype(dtype).kind == "f" else np.round(3 * drawn).astype(dtype)


def named(f):
    """A lambda as a function whose source can be read."""

    def call(*arguments):
        return f(*arguments)

    return f if f.__name__ != "<lambda>" else call


def same(f, *arguments, exact=True):
    """Value and dtype are those of the function under NumPy."""
    expected, found = np.asarray(f(*arguments)), np.asarray(rg.jit(named(f))(*arguments))
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if exact:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-6 if expected.dtype == F32 else 1e-12)


BINARY = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / (y - 20),
    "less": lambda x, y: x < y,
    "equal": lambda x, y: x == y,
    "where": lambda x, y: np.where(x > 1, x, y),
    "clip": lambda x, y: np.clip(x, y, 2),
    "concatenate": lambda x, y: np.concatenate([x, y]),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("second", [F32, F64, I32, I64])
@pytest.mark.parametrize("first", [F32, F64, I32, I64])
def test_types_meet_as_in_numpy(first, second, name):
    same(BINARY[name], numbers(first), numbers(second, seed=1))


@pytest.mark.parametrize("dtype", [F32, F64, I32, I64])
def test_python_numbers_give_way(dtype):
    same(lambda x: 2 * x + 1, numbers(dtype))
    same(lambda x: x - 2.5, numbers(dtype))
    same(lambda x: np.where(x > 0, x, 0), numbers(dtype))
    same(lambda x, a: x * a, numbers(dtype), 3)
    same(lambda x, a: x * a, numbers(dtype), 0.5)
    same(lambda x, a: x * (2 * a + 1), numbers(dtype), 3)
    same(lambda x, a: x * a, numbers(dtype), F64(0.5))
    same(lambda x, a: x * a, numbers(dtype), I64(3))


@pytest.mark.parametrize("name", ["sin", "exp", "tanh", "sqrt"])
def test_functions_of_f32_are_those_of_f64_rounded(name):
    function, x = getattr(np, name), np.abs(numbers(F32, 37))
    found = rg.jit(named(lambda x: function(x)))(x)
    assert found.dtype == F32
    wide = rg.jit(named(lambda x: function(x)))(x.astype(F64))
    np.testing.assert_array_equal(found, wide.astype(F32))


@pytest.mark.parametrize("dtype", [F32, F64, I32, I64, np.bool_])
def test_reductions(dtype):
    same(lambda x: np.sum(x), numbers(dtype, (3, 4)), exact=dtype not in (F32, F64))
    same(lambda x: np.sum(x, axis=0), numbers(dtype, (3, 4)), exact=dtype not in (F32, F64))
    same(lambda x: np.mean(x, axis=1), numbers(dtype, (3, 4)), exact=False)
    if dtype is not np.bool_:
        same(lambda x: x @ x, numbers(dtype, (3, 3)), exact=dtype not in (F32, F64))


FUNCTIONS = {
    "remainder": lambda x: x % 3,
    "remainder_of_number": lambda x: 7 % (x * x + 1),
    "floor_divide": lambda x: x // 2,
    "divmod": lambda x: np.divmod(x, 2)[0],
    "fmod": lambda x: np.fmod(x, 2),
    "power": lambda x: x**3,
    "square_root": lambda x: np.absolute(x) ** 0.5,
    "power_by_number": lambda x: (x * x + 1) ** 2.7,
    "float_power": lambda x: np.float_power(x, 2),
    "hypot": lambda x: np.hypot(x, 2),
    "floor": lambda x: np.floor(x),
    "sign": lambda x: np.sign(x),
    "fmax": lambda x: np.fmax(x, 0.5),
    "logaddexp": lambda x: np.logaddexp(x, 1),
    "heaviside": lambda x: np.heaviside(x, 0.5),
    "isinf": lambda x: np.isinf(x),
    "deg2rad": lambda x: np.deg2rad(x),
    "prod": lambda x: np.prod(x),
    "max": lambda x: np.max(x),
    "argmax": lambda x: np.argmax(x),
    "cumsum": lambda x: np.cumsum(x),
    "sort": lambda x: np.sort(x),
    "take": lambda x: np.take(x, np.array([0, -1], I32)),
    "var": lambda x: np.var(x),
    "nansum": lambda x: np.nansum(x),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "linspace": lambda x: np.linspace(x, 1.0, 5),
    "clip": lambda x: np.clip(x, -1, 1) + np.clip(x, None, 0),
    "pad": lambda x: np.pad(x, 1),
    "outer": lambda x: np.outer(x, x),
    "stack": lambda x: np.stack([x[0], 1.0]),
    "select": lambda x: np.select([x > 1, x > 0], [x * 2, x], 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [F32, F64, I32, I64])
def test_functions_have_the_types_of_numpys(dtype, name):
    same(FUNCTIONS[name], numbers(dtype), exact=False)


def test_python_numbers_as_arguments_give_way():
    x = np.abs(numbers(F32)) + F32(0.5)
    for f in (
        lambda x, a: x % a,
        lambda x, a: a // x,
        lambda x, a: x**a,
        lambda x, a: np.clip(x, a, a + 1),
        lambda x, a: np.stack([x[0], a]),
    ):
        same(f, x, 2, exact=False)
        same(f, x, 1.25, exact=False)


@pytest.mark.parametrize("start", [2, I32(2), I64(2)])
def test_a_range_gives_pythons_integers(start):
    def f(x, start):
        total = 0.0
        for i in range(start, 5):
            total = total + x[i] * i
        return total

    same(f, numbers(F32), start, exact=False)


def test_astype():
    for before in (F32, F64, I32, I64, np.bool_):
        for after in (F32, F64, I32, I64, np.bool_):
            same(lambda x: x.astype(after), numbers(before))


def test_a_sum_in_a_loop_has_the_type_of_its_terms():
    def loop(x):
        total = 0.0
        for i in range(x.shape[0]):
            total = total + x[i] * i
        return total

    for dtype in (F32, F64):
        same(loop, numbers(dtype), exact=dtype is F32)
    assert rg.jit(loop)(numbers(F32)).dtype == F32


def test_an_array_of_f32_is_changed_in_place():
    def loop(x):
        y = np.zeros(5, F32)
        for i in range(5):
            y[i] = 2 * x[i]
        return y

    same(loop, numbers(F32))
    same(loop, numbers(F64))


@pytest.mark.parametrize("dtype", [I32, I64])
def test_indices_and_counts_of_either_width(dtype):
    def picked(x, k, n):
        total = 0.0
        for i in range(n):
            total += x[k] * x[i]
        return total + x[k - 3]

    x = numbers(F64)
    arguments = (x, dtype(1), dtype(3))
    np.testing.assert_allclose(rg.jit(picked)(*arguments), picked(*arguments), rtol=1e-14)


@pytest.mark.parametrize("dtype", [I32, I64])
def test_bits(dtype):
    x, y = numbers(dtype, 9), np.abs(numbers(dtype, 9, seed=1))
    for f in (
        lambda x, y: x & y,
        lambda x, y: x | y,
        lambda x, y: x ^ y,
        lambda x, y: ~x,
        lambda x, y: x << y,
        lambda x, y: x >> y,
        lambda x, y: np.fmod(x, y + 1),
        lambda x, y: x % (y + 1),
        lambda x, y: x // (y + 1),
    ):
        same(f, x, y)


def test_integers_wrap():
    with np.errstate(over="ignore"):
        same(lambda x: x * x, np.array([2**30, -7, 123_456_789], I32))
        same(lambda x: x + 1, np.array([2**31 - 1], I32))


def test_a_number_that_does_not_fit_is_an_error():
    with pytest.raises(rg.DTypeError, match="out of bounds for int32"):
        rg.jit(named(lambda x: x + 2**40))(numbers(I32))


def test_slices_run_backwards():
    x = numbers(F64, (5, 4))
    for f in (
        lambda x: x[::-1],
        lambda x: x[3:0:-2, ::-1],
        lambda x: x[:, 2::-1],
        lambda x: x[10:2:-1],
        lambda x: x[0:3:-1],
    ):
        same(f, x)

    def assigned(x):
        y = np.zeros((5, 4))
        y[::-2] = x[:3]
        return np.sum(y * y[::-1] * x)

    same(assigned, x, exact=False)
    found = rg.grad(assigned)(x)

    def oracle(x):
        y = jnp.zeros((5, 4)).at[::-2].set(x[:3])
        return jnp.sum(y * y[::-1] * x)

    with jax.enable_x64(True):
        np.testing.assert_allclose(found, jax.grad(oracle)(x), rtol=1e-12)


def model(np_, x, w):
    hidden = np_.tanh(x @ w)
    return np_.sum(hidden * hidden) + np_.sum(np_.clip(w, -0.5, 0.5) * 0.25)


def test_gradients_of_f32_are_f32():
    x, w = numbers(F32, (6, 3)), numbers(F32, (3, 4), seed=2)
    value, (dx, dw) = rg.value_and_grad(named(lambda x, w: model(np, x, w)), argnums=(0, 1))(x, w)
    expected, (ex, ew) = jax.value_and_grad(lambda x, w: model(jnp, x, w), argnums=(0, 1))(x, w)
    assert (value.dtype, dx.dtype, dw.dtype) == (F32, F32, F32)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    np.testing.assert_allclose(dx, ex, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dw, ew, rtol=1e-4, atol=1e-5)


def test_a_gradient_through_a_loop_in_f32():
    def loop(x, a):
        state = x
        for _ in range(20):
            state = np.sin(state * a) + 0.5 * x
        return np.sum(state)

    def oracle(x, a):
        return jnp.sum(jax.lax.fori_loop(0, 20, lambda _, state: jnp.sin(state * a) + 0.5 * x, x))

    x = 0.3 * numbers(F32, 7)
    for budget in (None, "1 kB"):
        dx = rg.grad(loop, budget=budget)(x, F32(0.7))
        assert dx.dtype == F32
        np.testing.assert_allclose(dx, jax.jacrev(oracle)(x, F32(0.7)), rtol=1e-4)


def test_a_gradient_passes_through_conversions():
    def mixed(x, y):
        return np.sum((x * y).astype(F32) * x)

    x, y = numbers(F32), numbers(F64, seed=1)
    dx, dy = rg.grad(mixed, argnums=(0, 1))(x, y)
    assert (dx.dtype, dy.dtype) == (F32, F64)
    np.testing.assert_allclose(dx, 2 * x * y, rtol=1e-5)
    np.testing.assert_allclose(dy, x.astype(F64) ** 2, rtol=1e-6)


def test_derivatives_of_the_users_own_in_f32():
    @rg.custom_jvp
    def cube(x):
        return x**3

    cube.defjvp(lambda primals, tangents: (primals[0] ** 3, 3 * primals[0] ** 2 * tangents[0]))

    def f(x):
        return np.sum(cube(x) + rg.clip_cotangent(x, -0.5, 0.5) + rg.stop_gradient(x))

    x = numbers(F32)
    found = rg.grad(f)(x)
    assert found.dtype == F32
    np.testing.assert_allclose(found, 3 * x**2 + F32(0.5), rtol=1e-5)


def test_products_with_jacobians_in_f32():
    def f(x, y):
        return np.sin(x) * y

    x, y, d = numbers(F32), numbers(F64, seed=1), np.ones(5)
    value, tangent = rg.jvp(f, (x, y), (d, d))
    assert (value.dtype, tangent.dtype) == (F64, F64)
    np.testing.assert_allclose(tangent, np.cos(x) * y + np.sin(x), rtol=1e-6)
    _, pullback = rg.vjp(f, x, y)
    dx, dy = pullback(d)
    assert (dx.dtype, dy.dtype) == (F32, F64)
    np.testing.assert_allclose(dx, np.cos(x) * y, rtol=1e-6)


def test_the_carry_of_a_scan_has_the_type_of_its_terms():
    def f(x):
        total, partial = rg.scan(add, 0, x)
        return total * partial

    def add(total, x):
        return total + x, total * x

    for dtype in (F32, F64, I32, I64):
        same(f, numbers(dtype), exact=False)


@pytest.mark.parametrize("second", [F32, F64, I32])
def test_systems_of_two_types(second):
    a, b = numbers(F32, (3, 3)) + 9 * np.eye(3, dtype=F32), numbers(second, (3,), seed=1)
    found, expected = rg.jit(named(lambda a, b: np.linalg.solve(a, b)))(a, b), np.linalg.solve(a, b)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    same(lambda a, b: np.einsum("ij,j->i", a, b), a, b, exact=False)
