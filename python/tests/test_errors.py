"""Errors: each names what it is about, and ends with the user's file, line and source text."""

import re

import numpy as np
import pytest

import retrograd as rg

v = np.array([1.0, -2.0, 3.0])
A = np.ones((2, 3))


def broken(f):
    """Collects a function whose line with the comment `# here: Kind, words` is at fault."""
    FUNCTIONS.append(f)
    return f


FUNCTIONS = []


@broken
def missing_function(x):
    for i in range(3):
        x = x + 1.0
        x = np.unique(x)  # here: Unsupported, np.unique
    return np.sum(x)


@broken
def missing_ufunc(x):
    return np.sum(np.nextafter(x, 0.0))  # here: Unsupported, np.nextafter


@broken
def missing_linalg(x):
    return np.linalg.eigvals(x)  # here: Unsupported, np.linalg.eigvals


@broken
def missing_method(x):
    return x.byteswap()  # here: Unsupported, .byteswap


@broken
def shape_mismatch(x):
    y = x * 2.0
    return np.sum(y + np.ones(4))  # here: ShapeError, (3,) and (4,)


@broken
def product_mismatch(x):
    return np.ones((2, 4)) @ x  # here: ShapeError, (2, 4) and (3,)


@broken
def carry_changes_shape(x):
    s = 0.0
    while np.sum(x) < 9.0:
        x = x + 1.0
        s = s + x  # here: ShapeError, `s` changes its shape
    return np.sum(s)


@broken
def carry_changes_kind(x):
    s = 0.0
    while np.sum(x) < 9.0:
        x = x + 1.0
        s = (s, x[0])  # here: ShapeError, `s` changes its kind
    return np.sum(x)


@broken
def while_on_array(x):
    while x > 0.1:  # here: ShapeError, ambiguous
        x = x * 0.5
    return np.sum(x)


@broken
def while_changes_shape(x):
    y = x[:2]
    while np.sum(x) < 100.0:
        x = x * 2.0
        y = x  # here: ShapeError, `y` changes its shape
    return np.sum(y)


@broken
def to_numpy(x):
    return np.linalg.eigvals([[x[0], 1.0], [1.0, x[1]]])  # here: Unsupported, NumPy array


@broken
def static_bounds(x):
    return x[1] + x[3]  # here: BoundsError, index 3 is out of bounds for axis 0 with size 3


@broken
def too_many_indices(x):
    return x[1, 2]  # here: BoundsError, too many indices


@broken
def mask(x):
    return np.sum(np.flip(x[x > 0], 0)[:1])  # here: Unsupported, where the mask m is traced


@broken
def mask_store(x):
    x[x > 0] = x[:2]  # here: Unsupported, where the mask m is traced
    return np.sum(x)


@broken
def array_index(x):
    return np.sum(np.outer(x, x)[x > 0, x > 1])  # here: Unsupported, two traced masks


@broken
def array_index_bounds(x):
    return np.sum(x[[0, 3]])  # here: BoundsError, out of bounds


@broken
def traced_length(x):
    i = int(x[0])
    return np.sum(np.sort(x[:i]))  # here: Unsupported, length


@broken
def store_shape(x):
    x[:2] = x  # here: ShapeError, (3,)
    return np.sum(x)


@broken
def store_float_into_int(x):
    n = np.zeros(3, dtype=int)
    n[0] = x[0]  # here: DTypeError, int64
    return np.sum(x)


@broken
def out_option(x):
    np.divmod(x, 2.0, out=(x, x.copy()))  # here: Unsupported, out=
    return np.sum(x)


@broken
def where_option(x):
    return np.sum(np.add(x, x, where=x > 0))  # here: Unsupported, where=


@broken
def random_numbers(x):
    return np.sum(x * np.random.randn(3))  # here: Unsupported, random


@broken
def traced_exponent(x):
    return np.sum(np.arange(3) ** (x > 0))  # here: Unsupported, np.power


@broken
def float128_inside(x):
    return np.sum(x * np.ones(3, dtype=np.longdouble))  # here: DTypeError, float128


@broken
def complex_inside(x):
    return np.sum(x * 1j)  # here: DTypeError, complex


@broken
def axis_out_of_range(x):
    return np.sum(x, axis=2)  # here: ShapeError, axis


@broken
def convolution_of_a_matrix(x):
    return np.sum(np.convolve(np.outer(x, x), x))  # here: ShapeError, one axis


@broken
def convolution_of_another_mode(x):
    return np.sum(np.convolve(x, x, "circular"))  # here: ArgumentError, full, same and valid


@broken
def in_a_helper(x):
    return helper(x)


def helper(x):
    for i in range(2):
        x = np.unique(x)  # here: Unsupported, np.unique is not supported
    return np.sum(x)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_errors_point_at_the_line(f):
    import inspect

    at = helper if f is in_a_helper else f
    lines, first = inspect.getsourcelines(at)
    number, text = next((first + k, line) for k, line in enumerate(lines) if "# here:" in line)
    kind, words = re.search(r"# here: (\w+), (.*)", text).groups()
    with pytest.raises(getattr(rg, kind)) as error:
        rg.value_and_grad(f)(v.copy())
    message = str(error.value)
    assert words in message
    # Below the line there may be carets.
    assert message.rstrip("^ ").rstrip().endswith(f"{__file__}:{number}: {text.strip()}")


def test_a_name_that_a_loop_does_not_bind_is_an_error_when_it_runs():
    def f(x, n):
        for i in range(n):
            last = x[i]
        return last

    assert rg.jit(f)(v, 2) == f(v, 2)
    with pytest.raises(UnboundLocalError, match="'last'(.|\n)*return last"):
        rg.jit(f)(v, 0)


def identity(x, y=None):
    return np.sum(x)


@pytest.mark.parametrize(
    "argument, kind, words",
    [
        (object(), rg.DTypeError, "argument `x` of identity() is a object, in which nothing has a gradient"),
        (np.ones(3, np.float16), rg.DTypeError, "is float16: only floats have a gradient, of 32 or 64 bits"),
        (np.ones(3, complex), rg.Unsupported, "complex"),
        (1j, rg.Unsupported, "complex"),
        (np.ones(3, np.uint32), rg.DTypeError, "is uint32: only floats have a gradient"),
        (np.ones(3, np.int16), rg.DTypeError, "is int16: only floats have a gradient"),
        (np.array(["a"]), rg.DTypeError, "not supported"),
        ([v, 1j], rg.Unsupported, "argument `x[1]`"),
        (3, rg.DTypeError, "only floats have a gradient"),
    ],
)
def test_wrong_arguments_are_named(argument, kind, words):
    with pytest.raises(kind, match=re.escape(words)):
        rg.value_and_grad(identity)(argument)


def test_wrong_number_of_arguments():
    with pytest.raises(rg.ArgumentError, match="missing a required argument: 'x'"):
        rg.grad(identity)()
    with pytest.raises(rg.ArgumentError, match="argnums=3"):
        rg.grad(identity, argnums=3)(v)


def test_results_must_be_one_float():
    def many(x):
        return x * 2.0

    def pair(x):
        return np.sum(x), np.sum(x)

    def nothing(x):
        pass

    for f in (many, pair):
        with pytest.raises(rg.ShapeError, match="returns one float"):
            rg.grad(f)(v)
    with pytest.raises(rg.ArgumentError, match="found NoneType"):
        rg.grad(nothing)(v)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(rg.ArgumentError, match="a Python function is needed"):
        rg.grad(3.0)


def test_integer_division_by_zero_names_the_line():
    def f(x, n):
        return x[6 // n]

    with pytest.raises(rg.DivisionByZero, match="6 // n"):
        rg.jit(f)(v, 0)


def test_exceptions_of_the_user_pass_through_with_their_line():
    def f(x):
        for i in range(3):
            x = x + 1.0
            raise KeyError("mine")
        return np.sum(x)

    with pytest.raises(KeyError, match="mine") as error:
        rg.grad(f)(v)
    assert error.traceback[-1].lineno + 1 == f.__code__.co_firstlineno + 3


def test_kinds_are_pythons_too():
    assert issubclass(rg.ShapeError, ValueError) and issubclass(rg.BoundsError, IndexError) and issubclass(rg.DTypeError, TypeError)
    for name in ("ShapeError", "DTypeError", "Unsupported", "OverBudget", "MissingRule", "BoundsError", "ArgumentError"):
        assert issubclass(getattr(rg, name), rg.Error)
