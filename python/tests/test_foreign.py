"""Arrays of other packages, as arguments and as what a function reads from outside."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import retrograd as rg

jax.config.update("jax_enable_x64", True)
x = np.arange(3.0)


class Elements:
    """An array by `__array__` alone."""

    def __init__(self, elements):
        self.elements = elements

    def __array__(self, dtype=None, copy=None):
        return self.elements


class Exchanged:
    """An array by `__dlpack__` alone."""

    def __init__(self, elements):
        self.elements = elements

    def __dlpack__(self, **options):
        return self.elements.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.elements.__dlpack_device__()


@pytest.mark.parametrize("made", [Elements, Exchanged, pd.Series, jnp.asarray, lambda v: pd.DataFrame({"a": v}), np.asfortranarray])
def test_arguments(made):
    gradient = rg.grad(lambda p: np.sum(p["w"] ** 2))({"w": made(x)})["w"]
    assert type(gradient) is np.ndarray
    np.testing.assert_array_equal(gradient.reshape(-1), 2 * x)


def test_of_pandas_from_outside_it_is_what_it_is_at_each_call():
    series, frame = pd.Series(x), pd.DataFrame({"a": x, "b": 2 * x})
    functions = [
        (lambda y: np.sum(y * series.values), lambda: series.values),
        (lambda y: np.sum(y * np.asarray(series)), lambda: series.values),
        (lambda y: np.sum(y * frame["b"].to_numpy()), lambda: frame["b"].values),
        (lambda y: np.sum(y) * series.mean(), lambda: np.full(3, series.mean())),
        (lambda y: sum(row.b * y[0] for row in frame.itertuples()), lambda: [frame["b"].sum(), 0, 0]),
    ]
    for function, expected in functions:
        g = rg.grad(function)
        np.testing.assert_allclose(g(x), expected())
        series.iloc[0] += 1.0
        frame.loc[1, "b"] += 3.0
        np.testing.assert_allclose(g(x), expected())


def test_operators_that_mean_something_else_are_refused_at_the_line():
    series, frame = pd.Series(x), pd.DataFrame({"a": x, "b": 2 * x})
    # The standard deviation of pandas is another one than NumPy's: what they give must not be taken for an array.
    for function in (lambda y: (y * series).std(), lambda y: (series * y).std(), lambda y: series @ y, lambda y: np.sum(frame.T @ y), lambda y: np.sum(np.add(y, series))):
        with pytest.raises(rg.Unsupported, match="a pandas (Series|DataFrame) among traced values.*use np.asarray") as refused:
            rg.grad(function)(x)
        assert refused.value.pos[0] == __file__


def test_what_goes_wrong_inside_of_a_package_is_told_at_the_users_line():
    frame = pd.DataFrame({"a": x})
    with pytest.raises(rg.Unsupported) as refused:
        rg.grad(lambda y: frame.assign(b=y)["b"].sum())(x)
    assert refused.value.pos[0] == __file__


def test_jax_arrays_from_outside():
    weights = jnp.asarray(x)
    np.testing.assert_array_equal(rg.grad(lambda y: np.sum(y * weights))(x), x)


def test_arrays_with_operators_of_their_own_are_refused():
    """A mask would be lost, and `*` of matrices is no product of elements."""

    def masked(x):
        return np.ma.masked_array(x, mask=[True, False, False]).sum()

    def hidden(x):
        return np.ma.masked_where(x > 1, x).sum()

    def matrix(x):
        return np.sum(np.matrix(x) * np.ones((3, 1)))

    for f in (masked, hidden, matrix):
        for made in (rg.jit, rg.grad):
            with pytest.raises(rg.Unsupported):
                made(f)(np.array([1.0, 2.0, 3.0]))
