"""Planning takes less than a second for every program of the benchmark, within every budget that it names: by what is counted, not by a clock."""

import pathlib
import sys

import numpy as np
import pytest

import retrograd as rg

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))
import programs

# What the most took, and half as much again. To try a split takes some five nanoseconds, to place an instruction some ten microseconds.
SPLITS, PLACED = 200_000_000, 16_000

NAMES = "tanh", "lorenz", "logistic", "burgers", "nbody", "fem", "lstm", "gmm", "jacobi", "heat", "seidel", "vadv", "lu", "oscillators", "nested", "nested_fem"


def plan(function, program, **options):
    return rg.value_and_grad(function, program.argnums, threads=1, **options).plan(*program.args)


def limits(function, program):
    """The budgets that a program names, in bytes or words; some are parts of what is kept at most."""
    yield None
    for budget in program.budgets:
        if isinstance(budget, float):
            yield int(budget * plan(function, program, strategy=rg.keep_all()).bytes_peak)
        elif budget[0].isdigit():
            yield budget.split(",")[0]


@pytest.mark.parametrize("name", NAMES)
def test_planning_takes_as_little_as_it_did(name):
    for size in programs.load(name).SIZES:
        program = programs.make(name, size, np.random.default_rng(0))
        for function in program.forms.values():
            for budget in limits(function, program):
                effort = plan(function, program, budget=budget).data["effort"]
                assert effort["splits"] < SPLITS and effort["placed"] < PLACED, (size, budget, effort)
