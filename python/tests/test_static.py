"""Integers on demand and static arguments: compilations per value, how many of them are kept, and the warning."""

import warnings

import numpy as np
import pytest

import retrograd as rg
from retrograd.compiled import Variants


def scaled(x, mode, n=2):
    if mode == "double":
        x = x * 2.0
    for i in range(n):
        x = np.sin(x) + np.sum(np.zeros(n))
    return np.sum(x)


def test_static_arguments_are_python_values():
    x = np.ones(3)
    for options in (dict(static_argnums=(1, 2)), dict(static_argnames=("mode", "n")), dict(static_argnums=-1, static_argnames="mode")):
        for transform in (rg.jit, rg.grad):
            compiled = transform(scaled, **options)
            for mode in ("double", "none"):
                for n in (1, 3):
                    expected = rg.grad(lambda x: scaled(x, mode, n))(x) if transform is rg.grad else scaled(x, mode, n)
                    np.testing.assert_allclose(compiled(x, mode, n), expected, rtol=1e-14)
                    np.testing.assert_allclose(compiled(x, mode, n=n), expected, rtol=1e-14)


def test_static_values_are_told_apart_by_their_class():
    f = rg.jit(lambda x, k: x * (2.0 if isinstance(k, bool) else 3.0 if isinstance(k, int) else 4.0), static_argnums=1)
    assert [float(f(1.0, k)) for k in (True, 1, 1.0, True, 1)] == [2.0, 3.0, 4.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [(dict(static_argnums=7), "static_argnums"), (dict(static_argnames="k"), "static_argnames"), (dict(static_argnums="n"), "static_argnums"), (dict(static_argnames=3), "static_argnames")],
)
def test_static_arguments_are_checked(options, words):
    with pytest.raises((rg.ArgumentError, TypeError), match=words):
        rg.jit(scaled, **options)(np.ones(3), "double")


def test_what_has_no_hash_is_not_static():
    with pytest.raises(rg.ArgumentError, match="`mode`.*list"):
        rg.jit(scaled, static_argnums=1)(np.ones(3), ["double"])


def shaped(x, count):
    return np.sum(np.ones(count)) * x


def listed(x, p):
    return np.sum(np.ones(p["count"])) * x


@pytest.mark.parametrize(("function", "argument", "name", "options"), [
    (shaped, lambda n: n, "`count`", {}), (listed, lambda n: {"count": n}, r"`p\['count'\]`", {}), (shaped, lambda n: n, "`count`", {"static_argnames": "count"}),
])
def test_no_more_than_so_many_values_are_kept_and_the_warning_names_the_argument(function, argument, name, options, monkeypatch):
    assert Variants.capacity == 64
    monkeypatch.setattr(Variants, "capacity", 6)
    compiled = rg.jit(function, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(6):
            assert compiled(2.0, argument(n)) == 2.0 * n
    with pytest.warns(UserWarning, match=f"more than 6 values of {name}"):
        compiled(2.0, argument(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (7, 8, 0, 6):
            assert compiled(2.0, argument(n)) == 2.0 * n
    kept = sum(len(variants.made) for variants in compiled.cache.values())
    assert kept == 6
