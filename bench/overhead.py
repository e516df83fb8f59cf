"""What schedules take beyond the work that they ask for: measured seconds to those of their steps.

    .venv-bench/bin/python bench/overhead.py lorenz logistic

A step that runs once, forwards and backwards, takes what it takes by the same strategy without a budget, in a loop that is short enough for
the cache; a step that runs again takes what the loop alone takes, without a gradient.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import re
import sys

import numpy as np

import programs
import retrograd as rg
from predicted import BACKENDS, measured

# Arguments of a program, and of a short one; budgets.
LOOPS = {
    "lorenz": (dict(steps=1_000_000, segment=1000), dict(steps=2000, segment=10), ("2 kB", "16 kB", "1 MB")),
    "logistic": (dict(steps=1_000_000, segment=1000), dict(steps=2000, segment=10), ("2 kB", "16 kB", "1 MB")),
}
STRATEGIES = {"auto": rg.auto, "revolve": rg.revolve, "periodic": rg.periodic}


def forward_steps(plan):
    """Of all its loops; none where no loop is driven."""
    return sum(int(number) for number in re.findall(r"(\d+) forward steps", str(plan)))


def compiled(function, program, **options):
    return rg.value_and_grad(function, program.argnums, **options).compile(*program.args)


def rows(name, backend):
    long, short, budgets = LOOPS[name]
    random = lambda: np.random.default_rng(0)
    program, brief = programs.load(name).program(random(), **long), programs.load(name).program(random(), **short)
    form = next(iter(program.forms))
    function, few = program.forms[form], brief.forms[form]
    steps, few_steps = long["steps"], short["steps"]
    alone = rg.jit(function, backend=backend).compile(*program.args)
    advance = measured(alone, program.args) / steps
    once = compiled(few, brief, backend=backend)
    assert forward_steps(once.plan) <= few_steps, "without a budget no step runs twice"
    turn = measured(once, brief.args) / few_steps
    for label, strategy in STRATEGIES.items():
        for budget in budgets if label != "periodic" else (None,):
            try:
                run = compiled(function, program, backend=backend, strategy=strategy(), budget=budget)
            except rg.OverBudget as error:
                print(f"{name}, {backend}, {label}, {budget}: {error}")
                continue
            forward = forward_steps(run.plan)
            pure, taken = steps * turn + (forward - steps) * advance, measured(run, program.args)
            where = f"{name}, {backend}, {label}, {budget}"
            print(f"{where:44} {forward / steps:6.2f} a step, pure {pure:.3e}, measured {taken:.3e}: {taken / pure:.2f}", flush=True)


def main():
    for name in sys.argv[1:]:
        for backend in BACKENDS:
            rows(name, backend)


if __name__ == "__main__":
    main()
