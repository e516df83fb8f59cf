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


def forward_steps(plan):
    """Of the innermost loop, in all: an inner one runs whole with every step of the outer, and again as its reversal asks."""
    outer, *inside = plan.data["loops"]
    forward = outer["forward_steps"]
    for inner in inside:
        again = inner["forward_steps"] - (0 if inner["sweep"] == "joint" else inner["steps"])
        forward = forward * inner["steps"] + outer["steps"] * again
    return forward


def test_a_loop_in_a_loop_of_finite_elements_runs_as_few_steps_as_one_loop():
    fem = programs.load("nested_fem")
    nested = programs.make("nested_fem", next(iter(fem.SIZES)), np.random.default_rng(0))
    one = fem.program(np.random.default_rng(0), outer=1, inner=10_000, edge=5)
    for budget in nested.budgets[1:]:
        steps, fewest = (forward_steps(plan(program.forms[""], program, budget=budget)) for program in (nested, one))
        assert 10_000 < fewest < 100_000 and steps < 1.02 * fewest, (budget, steps, fewest)


def one_loop(u, force):
    for s in range(10_000):
        if s % 50 == 0:
            u = u + 0.1 * np.sin(force * u)
        a = u[1:-1, 1:-1]
        u[1:-1, 1:-1] = a + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * a) + 0.01 * (a - a * a * a)
    return np.sum(u * u)


def test_a_loop_in_a_loop_with_something_around_it_runs_as_few_steps_as_one_loop_or_is_faster():
    nested = programs.make("nested", next(iter(programs.load("nested").SIZES)), np.random.default_rng(0))
    for budget in nested.budgets[1:]:
        ours, one = (plan(function, nested, budget=budget) for function in (nested.forms[""], one_loop))
        assert forward_steps(ours) < 1.02 * forward_steps(one) or ours.seconds < one.seconds, (budget, ours.text, one.text)
