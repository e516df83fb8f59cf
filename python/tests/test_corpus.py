"""Programs as they are written without this package in mind (`programs/`): values of NumPy, exact derivatives, bits that no budget changes."""

import functools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from corpus import FOLDER, NAMES, chosen, difference, jax_gradient, leaves, load

import retrograd as rg

# What cannot be differentiated yet, and why; a program that works must leave the list.
NOT_YET: dict[str, str] = {}

# Values that amplify rounding, as inner differences do; all others are NumPy's to 1e-12.
LOOSE = {"earthquake_location": 1e-10}

# Programs whose source runs under JAX as it is: their gradients are held against JAX to rounding, the others' against differences.
IN_JAX = {
    "elo_ratings", "epidemic", "hamiltonian_monte_carlo", "newton_root", "newton_system", "particle_filter", "pharmacokinetics", "pid_controller",
    "polynomial_fit", "portfolio", "reaction_diffusion", "variational_autoencoder",
}


# Takes most of a minute to compile: `./test --all` runs it.
SLOW = {"ilqr"}


def programs(names=NAMES):
    refused = lambda name: [pytest.mark.xfail(strict=True, reason=NOT_YET[name])] if name in NOT_YET else []
    marks = lambda name: refused(name) + [pytest.mark.slow] * (name in SLOW)
    return [pytest.param(name, marks=marks(name), id=name) for name in names]


def derived(module, **options):
    """Value and gradient, and the function that gave them."""
    f, args, wrt = module.example()
    g = rg.value_and_grad(f, argnums=wrt, **options)
    return g(*args), g, args


def same(found, expected):
    """The same bits, nested alike."""
    found, expected = leaves(found), leaves(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


def test_there_are_enough_programs():
    assert len(NAMES) >= 180
    assert set(NOT_YET) <= set(NAMES) and IN_JAX <= set(NAMES)


@pytest.mark.parametrize("name", programs())
def test_program(name):
    """Value, gradient, the same bits under the least budget and one in between, and in one of the other forms of a function."""
    module = load(name)
    (value, gradient), g, args = derived(module)
    check_value_and_gradient(module, value, gradient, args)
    check_budgets(module, (value, gradient), g, args)
    check_form(module, list(FORMS)[NAMES.index(name) % len(FORMS)], value, gradient)


def check_value_and_gradient(module, value, gradient, args):
    f, fresh, wrt = module.example()
    np.testing.assert_allclose(value, f(*fresh), rtol=LOOSE.get(module.__name__.rpartition(".")[2], 1e-12))
    for given, untouched in zip(leaves(list(args)), leaves(list(module.example()[1]))):
        np.testing.assert_array_equal(given, untouched)
    at, found = leaves(chosen(args, wrt)), leaves(gradient)
    assert [leaf.shape for leaf in found] == [leaf.shape for leaf in at]
    rng = np.random.default_rng(0)
    for only in [None, *range(len(at))]:
        direction = [rng.normal(size=leaf.shape) if only in (None, k) else np.zeros(leaf.shape) for k, leaf in enumerate(at)]
        size = max(1e-3, max(np.max(np.abs(leaf), initial=0.0) for k, leaf in enumerate(at) if only in (None, k)))
        # Where a kink is near, only the smaller step stays on its side.
        near = [difference(module.example, direction, step * min(size, 1.0)) for step in (2e-4, 4e-6)]
        slope = sum(np.sum(g * d) for g, d in zip(found, direction))
        scale = sum(np.sum(np.abs(g * d)) for g, d in zip(found, direction))
        expected = min(near, key=lambda difference: abs(difference - slope))
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6 * scale + 1e-9 * abs(float(np.squeeze(value))))


def check_budgets(module, result, g, args):
    peak = g.plan(*args).bytes_peak
    if peak == 0:
        assert derived(module, budget=1)[1].plan(*args).bytes_peak == 0  # numbers alone, in registers
        return
    with pytest.raises(rg.OverBudget) as refused:
        derived(module, budget=1)
    least = refused.value.needed
    assert least <= peak
    for budget in (least, (least + peak) // 2):
        found, h, args = derived(module, budget=budget)
        assert h.plan(*args).bytes_peak <= budget
        same(found, result)


FORMS = {
    "lambda": lambda f, args: (lambda *rest: f(*rest), args),
    "partial": lambda f, args: (functools.partial(f, args[0]), args[1:]),
    "method": lambda f, args: (Holder(f).run, args),
    "object": lambda f, args: (Holder(f), args),
}


class Holder:
    """An object whose method and call are a program."""

    def __init__(self, f):
        self.f = f

    def run(self, *args):
        return self.f(*args)

    def __call__(self, *args):
        return self.f(*args)


def check_form(module, form, value, gradient):
    f, args, wrt = module.example()
    numbers = (wrt,) if isinstance(wrt, int) else wrt
    kept = [k for k in numbers if k > 0] if form == "partial" else list(numbers)
    g, rest = FORMS[form](f, args)
    if not kept:
        np.testing.assert_allclose(rg.jit(g)(*rest), value, rtol=1e-9)
        return
    found = rg.value_and_grad(g, argnums=tuple(k - (form == "partial") for k in kept))(*rest)
    of = [gradient] if isinstance(wrt, int) else gradient
    expected = [value, *(of[numbers.index(k)] for k in kept)]
    if form == "partial":
        # What is fixed is known before, or differentiated no more: another Program, of other roundings.
        for a, b in zip(leaves([found[0], *found[1]]), leaves(expected)):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * max(1.0, np.max(np.abs(b), initial=0.0)))
    else:
        same([found[0], *found[1]], expected)


@pytest.mark.parametrize("name", programs([name for name in NAMES if name in IN_JAX]))
def test_gradient_equals_jax(name):
    module = load(name)
    (value, gradient), _, _ = derived(module)
    expected_value, expected = jax_gradient(module)
    np.testing.assert_allclose(value, expected_value, rtol=1e-10)
    for a, b in zip(leaves(gradient), leaves(expected)):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * max(1.0, np.max(np.abs(b), initial=0.0)))


def notebook(names):
    """A notebook whose cells are programs, each followed by a cell that differentiates it."""
    cell = lambda source: {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source.splitlines(keepends=True)}
    cells = [cell("import numpy as np, retrograd as rg\nfrom corpus import leaves\nfound = {}")]
    for name in names:
        cells += [cell((FOLDER / f"{name}.py").read_text()), cell(RUN.format(name=name))]
    cells.append(cell("np.savez('found.npz', **{f'{name}:{k}': leaf for name, result in found.items() for k, leaf in enumerate(leaves(result))})"))
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


RUN = """f, args, wrt = example()
try:
    found["{name}"] = rg.value_and_grad(f, argnums=wrt)(*args)
except rg.Error as error:
    print("{name}", error)
"""

# What a notebook's own shell does with a cell; a kernel adds nothing but messages.
EXECUTE = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in json.load(open(sys.argv[1]))["cells"]:
    shell.run_cell("".join(cell["source"]), store_history=True).raise_error()
"""


def test_a_notebook_gives_the_same_bits(tmp_path):
    names = [name for name in NAMES if name not in NOT_YET][::6]
    (tmp_path / "programs.ipynb").write_text(json.dumps(notebook(names)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER.parent), os.environ.get("PYTHONPATH", "")]), "IPYTHONDIR": str(tmp_path / "ipython")}
    subprocess.run([sys.executable, "-c", EXECUTE, "programs.ipynb"], cwd=tmp_path, env=environment, check=True, timeout=600)
    found = np.load(tmp_path / "found.npz")
    for name in names:
        for k, leaf in enumerate(leaves(derived(load(name))[0])):
            np.testing.assert_array_equal(found[f"{name}:{k}"], leaf)
