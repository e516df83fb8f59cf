"""Every function of the table: its value against NumPy, in float64 and float32, its derivatives to order 2 against finite differences; and its page."""

import ast
import linecache
import os
import pathlib
import warnings

import numpy as np
import pytest
from oracle import copies
from table import FORMS, ORDINARY, SAMPLES, SPECIAL

import retrograd as rg
from retrograd import functions, rules
from retrograd.table import page
from retrograd.table.refused import REFUSED

INPUTS = {**ORDINARY, **SPECIAL}
CASES = [pytest.param(name, text, id=f"{name}: {text}") for table in (SAMPLES, FORMS) for name, samples in table.items() for text in samples]
# Modules whose functions move elements and compute nothing: to the bit.
EXACT = {"shapes", "joins", "picking"}


def source(text):
    """(a function of a sample's inputs, their names)."""
    *statements, result = ast.parse(text).body
    names = sorted({node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and node.id in INPUTS and not _is_bound(node, text)})
    lines = [*(f"    {ast.unparse(statement)}" for statement in statements), f"    return {ast.unparse(result)}"]
    code = f"def f({', '.join(names)}):\n" + "\n".join(lines) + "\n"
    file = f"<sample {text}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    scope = {"np": np}
    exec(compile(code, file, "exec"), scope)
    return scope["f"], names


def _is_bound(node, text):
    """Names that a sample itself gives a value: results of statements, parameters of lambdas."""
    bound = {item.arg for item in ast.walk(ast.parse(text)) if isinstance(item, ast.arg)}
    bound |= {item.id for item in ast.walk(ast.parse(text)) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    return node.id in bound


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


def plain(f, args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return leaves(f(*copies(args)))


def compare(found, expected, text, exact):
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.shape == b.shape, f"{text}: shape {a.shape}, NumPy {b.shape}"
        assert a.dtype == b.dtype, f"{text}: {a.dtype}, NumPy {b.dtype}"
        if exact or b.dtype.kind != "f":
            np.testing.assert_array_equal(a, b)
            continue
        eps = np.finfo(b.dtype).eps
        finite = np.abs(b[np.isfinite(b)])
        np.testing.assert_allclose(a, b, rtol=32 * eps, atol=32 * eps * max(float(finite.max(initial=0.0)), 1.0))


def loose(name):
    return name.startswith("np.linalg") or name in ("np.polyfit", "np.poly", "np.i0", "np.cov", "np.corrcoef", "np.gradient")


def is_exact(name):
    """Whether a function only moves elements."""
    function = named(name)
    rule = rules.FUNCTIONS.get(function)
    return rule is not None and rule.rule.__module__.rsplit(".", 1)[-1] in EXACT


def named(name):
    value = np
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value


@pytest.mark.parametrize("name, text", CASES)
def test_value_and_derivatives(name, text):
    f, names = source(text)
    args = [INPUTS[key] for key in names]
    expected = plain(f, args)
    found = leaves(rg.jit(f)(*args))
    if loose(name):
        for a, b in zip(found, expected):
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    else:
        compare(found, expected, text, is_exact(name))
    floats = [k for k, arg in enumerate(args) if np.asarray(arg).dtype == np.float64]
    if not floats or not any(value.dtype.kind == "f" for value in expected):
        return

    def g(*values):
        rest = list(args)
        for k, value in zip(floats, values):
            rest[k] = value
        return f(*rest)

    if all(key in ORDINARY for key in names):
        rg.check_grads(g, tuple(args[k] for k in floats), order=2)
    else:
        # A gradient exists, whatever it is there.
        rg.vjp(g, *[args[k] for k in floats])


@pytest.mark.parametrize("name", sorted({name for name in SAMPLES}))
def test_float32_is_numpys(name):
    for text in SAMPLES[name]:
        f, names = source(text)
        args = [INPUTS[key].astype(np.float32) if isinstance(INPUTS[key], np.ndarray) and INPUTS[key].dtype == np.float64 else INPUTS[key] for key in names]
        expected, found = plain(f, args), leaves(rg.jit(f)(*args))
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{text}: {a.dtype}{a.shape}, NumPy {b.dtype}{b.shape}"
            if b.dtype.kind == "f":
                scale = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)), 1.0)
                np.testing.assert_allclose(a, b, rtol=1e-3 if loose(name) else 2e-5, atol=scale * (1e-3 if loose(name) else 2e-6), err_msg=text)
            else:
                np.testing.assert_array_equal(a, b, err_msg=text)


def test_every_function_has_an_entry():
    """A function is covered, with samples, or refused, with a reason."""
    covered = {rules.name_of(function) for function in [*rules.FUNCTIONS, *functions.CREATION, *functions.UFUNCS]}
    assert covered - {rules.name_of(named(name)) for name in SAMPLES} == set()
    names = dict(page.functions())
    silent = sorted(name for name, function in names.items() if not page.is_covered(function) and function not in REFUSED)
    assert not silent, silent
    both = sorted(name for name, function in names.items() if page.is_covered(function) and function in REFUSED)
    assert not both, both


def test_refused_functions_say_why():
    for function, reason in REFUSED.items():
        with pytest.raises(rg.Unsupported) as error:
            rg.jit(lambda x: functions.function(function, (x,), {}) if not isinstance(function, np.ufunc) else function(*[x] * function.nin))(np.ones(3))
        assert reason in str(error.value), f"{function.__name__}: {error.value}"


def test_page_is_current():
    file = pathlib.Path(__file__).parents[1] / "NUMPY.md"
    text = page.markdown(SAMPLES, FORMS)
    if os.environ.get("BLESS"):
        file.write_text(text)
    assert file.read_text() == text, "BLESS=1 writes it"
