"""Python's own numbers: integers do not wrap, and what Python raises is raised at the user's line; NumPy's numbers wrap and give NaNs."""

import inspect
import math
import textwrap

import numpy as np
import pytest
from oracle import check

import retrograd as rg


def written(tmp_path, body, arguments="x"):
    """A function of its own file, so that it has source."""
    file = tmp_path / f"program{len(list(tmp_path.iterdir()))}.py"
    file.write_text(f"import math\nimport numpy as np\ndef f({arguments}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n")
    scope = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["f"]


def raised(function, *args):
    try:
        with np.errstate(all="ignore"):
            return None, function(*args)
    except Exception as error:
        return error, None


# What Python raises, with arguments for which it does and for which it does not.
RAISES = [
    ("math.sqrt(x)", -1.0, 2.0), ("math.log(x)", 0.0, 0.5), ("math.log(x)", -3.0, 0.5), ("math.log2(x)", 0.0, 4.0), ("math.log10(x)", -1.0, 10.0),
    ("math.log1p(x)", -1.0, 0.5), ("math.acos(x)", 2.0, 0.5), ("math.asin(x)", -2.0, 0.5), ("math.acosh(x)", 0.5, 1.5), ("math.atanh(x)", 1.0, 0.5),
    ("math.exp(x)", 1000.0, 1.0), ("math.expm1(x)", 1000.0, 1.0), ("math.cosh(x)", 1000.0, 1.0), ("math.sinh(x)", -1000.0, 1.0), ("math.pow(x, 0.5)", -1.0, 2.0),
    ("math.pow(x, -1.0)", 0.0, 2.0), ("math.fmod(1.0, x)", 0.0, 0.3), ("math.sin(x)", math.inf, 1.0), ("math.log(x, 2.0)", -1.0, 3.0),
    ("1.0 / x", 0.0, 2.0), ("1 / x", 0.0, 2.0), ("x / (x - x)", 1.0, None), ("5.0 % x", 0.0, 2.3), ("5.0 // x", 0.0, 2.3), ("x ** -2", 0.0, 2.0),
    ("x ** 200", 1e10, 2.0), ("x ** 2", 1e200, 2.0), ("2.0 ** x", 1e5, 3.0), ("float(int(x))", math.nan, 2.5), ("float(int(x))", math.inf, 2.5),
    ("float(math.floor(x))", math.nan, 2.5), ("float(round(x))", math.inf, 2.5), ("float(math.ceil(x))", math.nan, -2.5),
]


@pytest.mark.parametrize(("expression", "wrong", "right"), RAISES)
@pytest.mark.parametrize("form", ["return {}", "s = 0.0\nfor i in range(3):\n    s = s + {}\nreturn s", "if x == x or x != x:\n    y = {}\nelse:\n    y = 0.0\nreturn y"])
def test_what_python_raises_is_raised_at_the_line(expression, wrong, right, form, tmp_path):
    f = written(tmp_path, form.format(expression))
    expected, _ = raised(f, wrong)
    assert isinstance(expected, Exception)
    for transform in (rg.jit, rg.grad):
        found, value = raised(transform(f), wrong)
        kind = next(kind for kind in (ZeroDivisionError, OverflowError, ValueError) if isinstance(expected, kind))
        assert isinstance(found, kind), (found, value, expected)
        line = next(k for k, text in enumerate(inspect.getsource(f).splitlines(), 3) if expression in text)
        assert found.pos == (f.__code__.co_filename, line), found
    if right is not None:
        np.testing.assert_allclose(rg.jit(f)(right), f(right), rtol=1e-14)
        if "int(" not in expression and "floor" not in expression and "round" not in expression and "ceil" not in expression:
            h = 1e-6
            np.testing.assert_allclose(rg.grad(f)(right), (f(right + h) - f(right - h)) / (2 * h), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "expression", ["np.sqrt(x)", "np.log(x)", "np.arccos(x)", "np.exp(x)", "1.0 / x", "x % 0.0", "x // x", "x ** -1.5", "x ** 500", "1.0 / np.float64(0.0) * x"]
)
@pytest.mark.parametrize("value", [-1.0, 0.0, 2.0, 1000.0])
def test_numpy_gives_nans_and_infinities(expression, value, tmp_path):
    f = written(tmp_path, f"return {expression}")
    for argument in (np.float64(value), np.array(value)):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(rg.jit(f)(argument), f(argument), rtol=1e-15)


def test_elements_of_arrays_are_numpys_and_python_floats_are_not(tmp_path):
    f = written(tmp_path, "s = 0.0\nfor i in range(3):\n    s = s + 1.0 / x[i]\nreturn s")
    assert rg.jit(f)(np.array([1.0, 0.0, 2.0])) == math.inf
    g = written(tmp_path, "s = 0.0\nfor i in range(3):\n    s = s + 1.0 / float(x[i])\nreturn s")
    with pytest.raises(ZeroDivisionError):
        rg.jit(g)(np.array([1.0, 0.0, 2.0]))


# Integers that leave 64 bits: (statements of a step, start)
GROWS = [
    ("c = c * 3", 1), ("c *= 10", 7), ("c = c + c", 1), ("c = c - 2 * c - c", 3), ("c = c ** 2", 3), ("c = c << 1", 1), ("c = -c * 4", 1), ("c = abs(c) * 5 + 1", -1),
    ("c += 2 ** 60", 0), ("c -= 2 ** 60", 0), ("c, d = d, c + d", 1), ("c = c * 4 // 2", 1), ("c = (c + 1) * (c + 2)", 0), ("c = c * c * c + 2", 0),
]


@pytest.mark.parametrize(("step", "start"), GROWS)
@pytest.mark.parametrize("loop", ["for i in range(n):", "i = 0\nwhile i < n:\n    i += 1", "for i in range(100):\n    if i >= n:\n        break", "while x[0] * k < n:\n    k += 1"])
def test_an_integer_of_python_does_not_wrap(step, start, loop, tmp_path):
    f = written(tmp_path, f"c, d, k = {start}, 1, 0\n{loop}\n    {step}\nreturn x[0] * (c % 1000)", "x, n")
    compiled = rg.jit(f)
    x = np.array([1.0])
    for n in (0, 1, 2, 3, 5, 8 if "**" in step or "c + 1" in step or "c * c" in step else 90):
        expected = f(x, n)
        found, value = raised(compiled, x, n)
        largest = _largest(step, start, n)
        if largest < 2**62:
            assert value == expected, (n, found)
        elif largest >= 2**64:
            assert isinstance(found, OverflowError), (n, value, expected)
        else:
            assert isinstance(found, OverflowError) or value == expected


def _largest(step, start, n):
    scope = {"c": start, "d": 1}
    largest = 0
    for _ in range(n):
        exec(step, scope)
        largest = max(largest, abs(scope["c"]), abs(scope["d"]))
        if largest > 2**70:
            break
    return largest


COUNTERS = """
for i in range({n}):
    c += 1
    if x[0] > 0:
        c += 2
    for j in range(3):
        c += i
        k = i * 8 + j
        s = s + x[k % 5] * (c % 7)
    for j in range(m):
        d = (d * 1103515245 + 12345) % 2147483648
        s = s + d % 3
t = 0
while t < 100:
    t += 3
    e = t * 4 + 1
return s + c + e
"""


@pytest.mark.parametrize("n", ["50", "m"])
def test_integers_that_are_known_to_fit_are_not_checked(n, tmp_path):
    f = written(tmp_path, "s, c, d, e = 0.0, 0, 1, 0\n" + COUNTERS.format(n=n), "x, m")
    compiled = rg.jit(f)
    x = np.arange(1.0, 6.0)
    for m in (0, 1, 7):
        np.testing.assert_allclose(compiled(x, m), f(x, m))
    text = str(compiled.compile(x, 7).program)
    if n == "50":
        assert "check" not in text, text


def test_numpy_integers_wrap(tmp_path):
    f = written(tmp_path, "for i in range(40):\n    c = c * 3\nreturn x * c", "x, c")
    with np.errstate(all="ignore"):
        for c in (np.int64(7), np.int32(7)):
            assert rg.jit(f)(1.0, c) == f(1.0, c)


def test_large_integers_are_arguments_of_their_own(tmp_path):
    f = written(tmp_path, "return x * float(n + 1 - n)", "x, n")
    compiled = rg.jit(f)
    assert compiled(2.0, 5) == 2.0
    assert compiled(2.0, 2**62) == 2.0
    with pytest.raises(OverflowError):
        compiled(2.0, 2**63 - 1)
    assert compiled(2.0, -5) == 2.0


@pytest.mark.parametrize("expression", ["2 ** i", "3 ** i", "(-2) ** i", "i ** i", "1 << i", "(i + 2) ** 2", "(5 << i) >> 1", "i & 3", "i | 4", "i ^ 5", "~i", "-i", "+i", "abs(i - 3)", "i // 2", "i % 3", "-i // 2", "-i % 3", "(x[0] > 0) + (i > 2)", "True + i", "7 // (i + 1)", "divmod(i, 3)[1]"])
def test_arithmetic_of_integers(expression, tmp_path):
    f = written(tmp_path, f"s = x[0]\nfor i in range(6):\n    s = s * 0.5 + x[1] * ({expression})\nreturn s")
    check(f, np.array([0.5, 1.5]))


def test_comparisons_of_python_numbers_are_bools(tmp_path):
    f = written(tmp_path, "a, b = x > 1.0, x < 3.0\nc = a + b\nd = (x > 0.0) * 2 + (not a)\nreturn x * c + d + (a is not None)")
    for x in (0.5, 2.0, 4.0):
        assert rg.jit(f)(x) == f(x)


def test_items_and_lists_of_arrays_are_pythons_numbers(tmp_path):
    body = "a, l, m = x[0].item(), (x * 2).tolist(), np.outer(x, x).tolist()\nl[0] = a\nreturn a * np.sum(x).item() + sum(l) + m[1][0] * x.item(1) + isinstance(a, float)"
    f = written(tmp_path, body)
    x = np.array([0.5, 1.5])
    assert rg.jit(f)(x) == pytest.approx(f(x))
    np.testing.assert_allclose(rg.grad(f)(x), [5.75, 4.0])
    with pytest.raises(ZeroDivisionError):
        rg.jit(written(tmp_path, "return 1.0 / x[0].item()"))(np.zeros(2))
