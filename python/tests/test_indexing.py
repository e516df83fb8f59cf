"""Reading and assigning windows, with fixed and traced indices."""

import numpy as np
import pytest
from oracle import check, check_value

import retrograd as rg

rng = np.random.default_rng(3)
A = rng.normal(size=(4, 5))
v = rng.normal(size=6)

READS = [
    "a[0]", "a[-1]", "a[1:3]", "a[1:]", "a[:-1]", "a[::2]", "a[1::2]", "a[-3:-1]", "a[...]", "a[..., 0]", "a[0, ...]", "a[None]",
    "a[:, None]", "a[1, 2]", "a[-1, -2]", "a[1:3, ::2]", "a[1][2]", "a[1:][::2]", "a[5:]", "a[3:1]", "a[:, 1]", "a[..., 1:3]", "a[None, 1, None, 2:]",
    "a[:100]", "a[-100:2]", "a[1:4:3]", "a.T[1:3, 0]", "a[()]",
]


@pytest.mark.parametrize("expression", READS)
def test_reads_are_numpys(expression, tmp_path):
    f = source(tmp_path, f"def f(a):\n    return 1.0 * {expression}, {expression}\n")
    check_value(f, A)


@pytest.mark.parametrize("expression", READS)
def test_stores_are_numpys(expression, tmp_path):
    if expression.count("]") > 1:
        pytest.skip("one index")
    store = f"def f(a):\n    {expression} = 2.0 * {expression} + 1.0\n    {expression} += 3.0\n    return np.sum(np.sin(a))\n"
    f = source(tmp_path, store)
    check(f, A)


def source(folder, text):
    """A function from source text that has a file, as functions of users do."""
    file = folder / "program.py"
    file.write_text("import numpy as np\n" + text)
    scope = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["f"]


def traced_index(a, i):
    a[i] = a[i] * 2.0
    a[i - 1] += a[i + 1] * a[-i]
    return np.sum(a * a) + a[i]


def test_traced_index():
    check(traced_index, v, 2)


def test_traced_negative_index_wraps():
    def f(a, i):
        a[i] = 3.0 * a[i]
        return np.sum(a * a) + a[i]

    for i in (-6, -1, 0, 5):
        check(f, v, i)


def test_traced_index_out_of_bounds_is_an_error():
    def f(a, i):
        return a[i]

    for i in (6, -7):
        with pytest.raises(rg.BoundsError, match="return a\\[i\\]"):
            rg.jit(f)(v, i)


def moving_window(a, w):
    s = 0.0
    for i in range(len(a) - 2):
        s = s + np.sum(a[i : i + 3] * w) * a[i + 1]
        a[i + 1 : i + 3] = a[i : i + 2] * 0.5
    return s + np.sum(a[::2])


def test_moving_window():
    check(moving_window, v, rng.normal(size=3))


def matrix_walk(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = 0.5 * a[i - 1, j] + 0.25 * a[i, j - 1] * a[i, j]
    return np.sum(a * a)


def test_gauss_seidel_like_walk():
    check(matrix_walk, A)


def rows_and_columns(a):
    for i in range(a.shape[0]):
        a[i] = a[i] * a[0, i]
        a[:, i] += a[i, 0]
        a[i, 1:3] *= 2.0
    return np.sum(np.sin(a))


def test_rows_and_columns():
    check(rows_and_columns, A)


def local_store(x):
    n = x.shape[0]
    b = np.zeros(n + 2)
    b[1:-1] = x
    b[0], b[-1] = x[-1], x[0]
    c = b
    b[1] = 7.0 * x[0]
    return np.sum(b * c) + np.sum(c[1:3])


def test_stores_into_arrays_made_inside():
    check_value(local_store, v)
    value, gradient = rg.value_and_grad(local_store)(v)
    np.testing.assert_allclose(gradient, difference(local_store, v), rtol=1e-6, atol=1e-6)


def difference(f, x):
    gradient = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        h = np.zeros_like(x)
        h[k] = 1e-6
        gradient[k] = (f(x + h) - f(x - h)) / 2e-6
    return gradient


def iteration(a):
    total = 0.0
    for row in a:
        total = total + np.sum(row) * row[0]
    for k, row in enumerate(a):
        row[0] = k * row[1]
    return total + np.sum(a * a)


def test_iteration_over_rows():
    check(iteration, A)


CUBE = rng.normal(size=(4, 5, 6))
FIRST, SECOND = np.array([0, 3, -1]), np.array([[1], [2]])
SEVERAL = ["a[i, j]", "a[:, i, j]", "a[..., i, j]", "a[1:, 2, i]", "a[i, -1, ::2]", "a[i, j, i]", "a[np.ix_([0, 1], [2, 3])]", "a[[1, 2], [0, -5]]"]


@pytest.mark.parametrize("text", SEVERAL)
def test_arrays_of_integers_side_by_side(text):
    f = eval(f"lambda a, i, j: {text}", {"np": np})
    np.testing.assert_array_equal(rg.jit(f)(CUBE, FIRST, SECOND), f(CUBE, FIRST, SECOND))
    np.testing.assert_array_equal(rg.jit(lambda a: f(a, FIRST, SECOND))(CUBE), f(CUBE, FIRST, SECOND))
    weights = np.cos(np.arange(f(CUBE, FIRST, SECOND).size)).reshape(f(CUBE, FIRST, SECOND).shape)
    expected = np.zeros_like(CUBE)
    places = f(np.arange(CUBE.size).reshape(CUBE.shape), FIRST, SECOND)
    np.add.at(expected.reshape(-1), places, weights)
    np.testing.assert_allclose(rg.grad(lambda a, i, j: np.sum(weights * f(a, i, j)))(CUBE, FIRST, SECOND), expected, atol=1e-15)


def test_arrays_of_integers_side_by_side_are_assigned():
    def f(a, i, j):
        a[i, j] = 7.0
        a[:, 1, i] += a[:, 0, i]
        a[0, i] *= 2.0
        return a

    np.testing.assert_array_equal(rg.jit(f)(CUBE.copy(), FIRST, SECOND), f(CUBE.copy(), FIRST, SECOND))


def test_an_index_beyond_its_axis_is_an_error():
    """Of several axes as one it would be another element."""
    for f in (lambda a, i: a[i, i], lambda a, i: a[0, i]):
        with pytest.raises(IndexError):
            rg.jit(f)(CUBE, np.array([5]))
        with pytest.raises(IndexError):
            rg.jit(f)(CUBE, np.array([-6]))
