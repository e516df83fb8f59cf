"""Unsigned, 8- and 16-bit integers and float16: computed in wider types, wrapped and rounded after every operation as NumPy does."""

import linecache
import warnings

import numpy as np
import pytest

import retrograd as rg

rng = np.random.default_rng(4)
DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64, np.float16]
EXPRESSIONS = [
    "a + b", "a - b", "a * b", "a + 3", "3 - a", "a // 3", "a % 5", "a / b", "-a", "abs(a)", "a < b", "a == 7", "np.maximum(a, b)", "np.sqrt(a)", "np.exp(a / 100)", "a * 1.5", "a + x", "x * a", "a.astype(np.float64) / 255.0",
    "a.astype(np.float32)", "a.astype(np.int64)", "a[1]", "a[1:3] + a[:2]", "a[::-1]", "a[[0, 2]]", "a.sum()", "np.sum(a)", "np.mean(a)", "np.max(a)", "np.min(a)", "np.sort(a)", "np.where(a > 5, a, b)", "np.concatenate([a, b])", "a.reshape(2, 2)",
    "np.stack([a, b])", "a & 3", "a | b", "a ^ b", "~a", "a << 1", "a >> 2", "a ** 2", "np.square(a)", "np.clip(a, 2, 9)", "np.cumsum(a)", "np.dot(a, b)", "np.argmax(a)", "x[a % 3]", "a.T", "np.diff(a)", "np.abs(a) + np.float32(1.0)", "a + np.int8(3)",
    "a.astype(np.uint8)", "a.astype(np.int16)", "a.astype(np.float16)", "x.astype(np.uint8)", "x.astype(np.float16) * 3", "np.any(a)", "np.prod(a)", "a.copy()", "np.sin(a)", "a > x", "np.uint8(x)", "np.floor(a / 3)", "a @ b", "a.mean()",
]
STATEMENTS = [
    "a[1] = 9; return a", "a += 3; return a", "a[1:3] += b[:2]; return a", "a *= b; return a", "b = a; b[0] = 1; return a", "a[0] = x[1]; return a", "c = x.copy(); c[0] = a[0]; return c", "c = x.copy(); c += a; return c", "a[[0, 1]] = b[2:]; return a",
    "s = 0.0\n    for k in range(4):\n        s = s + x[k] * a[k].astype(float)\n    return s",
]


def program(text):
    body = text if "return" in text else f"return {text}"
    code = f"def f(a, b, x):\n    {body}\n"
    file = f"<narrow {text}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    scope = {"np": np}
    exec(compile(code, file, "exec"), scope)
    return scope["f"]


def outcome(run):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as error:
            return error


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
def test_results_are_numpys_or_refused(dtype):
    a, b = (np.array([3, 100, 7, 120]).astype(dtype), np.array([5, 60, 90, 2]).astype(dtype))
    x = np.array([1.0, 5.5, 100.25, 30.0])
    same, refused = 0, []
    for text in [*EXPRESSIONS, *STATEMENTS]:
        f = program(text)
        want = outcome(lambda: f(a.copy(), b.copy(), x.copy()))
        found = outcome(lambda: rg.jit(f)(a.copy(), b.copy(), x.copy()))
        if isinstance(want, Exception):
            assert isinstance(found, Exception), f"{text}: NumPy refuses it: {want}"
            continue
        if isinstance(found, Exception):
            assert isinstance(found, (rg.Error, OverflowError)), f"{text}: {found!r}"
            refused.append((text, str(found).splitlines()[0]))
            continue
        assert (np.asarray(found).dtype, np.shape(found)) == (np.asarray(want).dtype, np.shape(want)), f"{text}: {np.asarray(found).dtype}, NumPy {np.asarray(want).dtype}"
        if np.asarray(want).dtype in (np.float16, np.float32, np.float64):
            np.testing.assert_allclose(np.asarray(found, float), np.asarray(want, float), rtol=2 * np.finfo(np.asarray(want).dtype).eps, err_msg=text)
        else:
            np.testing.assert_array_equal(found, want, err_msg=text)
        same += 1
    assert same >= 60, refused


def test_every_float16_is_rounded_as_numpy_does():
    x = np.concatenate([rng.normal(size=2000) * 10.0 ** rng.uniform(-9, 5, size=2000), [0.0, -0.0, np.inf, -np.inf, np.nan, 65519.9, 65520.0, 2.0**-24, 2.0**-25, 3 * 2.0**-26, 1 + 2.0**-11, 1 + 3 * 2.0**-11]]).astype(np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(rg.jit(lambda x: x.astype(np.float16))(x), x.astype(np.float16))


def test_gradients_pass_through_bytes_and_halves():
    image = np.array([[3, 200], [17, 90]], np.uint8)

    def loss(w, image):
        return np.sum(np.tanh((image / 255.0) @ w) ** 2)

    w = np.array([0.3, -0.7])
    np.testing.assert_allclose(rg.grad(loss)(w, image), rg.grad(loss)(w, image.astype(float)), rtol=1e-14)

    def halves(x):
        return np.sum((x.astype(np.float16) * np.float16(3.0)).astype(np.float32))

    np.testing.assert_array_equal(rg.grad(halves)(np.ones(3, np.float32)), [3.0, 3.0, 3.0])


def test_other_types_are_other_compilations():
    f = rg.jit(lambda x: x + x)
    for dtype in (np.uint8, np.int32, np.int8, np.uint16):
        x = np.array([100, 3]).astype(dtype)
        found = f(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, x + x)


def test_uint64_beyond_its_half_is_refused():
    with pytest.raises(rg.DTypeError, match="2\\*\\*63"):
        rg.jit(lambda x: x + 1)(np.array([2**63], np.uint64))
    with pytest.raises(OverflowError, match="2\\*\\*63"):
        rg.jit(lambda x: x - 5)(np.array([3], np.uint64))


BYTES = np.array([1, 2, 3], np.uint8)


def test_bytes_from_outside_are_read_at_each_call():
    def f(x):
        return x * BYTES

    g = rg.jit(f)
    np.testing.assert_array_equal(g(np.ones(3)), [1.0, 2.0, 3.0])
    BYTES[0] = 9
    np.testing.assert_array_equal(g(np.ones(3)), [9.0, 2.0, 3.0])


def test_loops_and_calls():
    def total(a):
        s = a[0]
        for k in range(1, 4):
            s = s + a[k]
            a[k] += a[k - 1]
        return s, a

    def called(x):
        return rg.jit(lambda z: z.astype(np.uint8))(x) + np.uint8(250)

    a = np.array([100, 100, 100, 7], np.uint8)
    with np.errstate(all="ignore"):
        mine, numpys = a.copy(), a.copy()
        for found, want in zip(rg.jit(total)(mine), total(numpys)):
            np.testing.assert_array_equal(found, want)
        # What a function changes of its arguments, the caller sees.
        np.testing.assert_array_equal(mine, numpys)
        np.testing.assert_array_equal(rg.jit(called)(np.array([3.0, 9.0])), np.array([253, 3], np.uint8))


def test_small_integers_change_in_place_and_wrap():
    def f(x):
        k = np.zeros(5, np.uint8)
        for i in range(5):
            k[i] += 7
            if x[i] > 0.0:
                k[i] += 1
        k[0] = k[0] + np.uint8(250)
        return np.sum(x * k) + np.sum(x * np.arange(5).astype(np.int8))

    x = np.array([0.5, -0.2, 0.9, 1.3, -1.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(rg.jit(f)(x.copy()), f(x), rtol=1e-12)
