"""What schedules take beyond the work that they ask for: measured seconds to those of their steps.

    .venv-bench/bin/python bench/overhead.py lorenz logistic tanh oscillators nested

Both prices of a step are of gradients of the same function over few steps, by the same back end: one that runs once, forwards and backwards, takes what it takes
where every step is recorded, in a loop that is short enough for the cache; one that runs again takes what `recompute_all` takes besides, which is hardly anything
else than steps that run again. All are measured in turns, and of each the fastest turn counts, so that what others do on the machine is in none of them.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import sys
import time

import numpy as np

import programs
import retrograd as rg
from predicted import BACKENDS

SECONDS = 3.0  # of turns, for each program and back end
TURNS = 8  # at least

NUMBERS = [(dict(steps=steps, segment=10), steps) for steps in (1_000_000, 2000, 300)]
BY_NUMBERS = NUMBERS, ("2 kB", "16 kB", "1 MB"), {"auto": rg.auto, "revolve": rg.revolve}
# Arguments and steps of a program, of one whose steps run once and of one whose steps run again; budgets; strategies. `user` without fates is `auto` without tiles.
LOOPS = {
    "lorenz": BY_NUMBERS,
    "logistic": BY_NUMBERS,
    "tanh": ([(dict(n=1000), steps) for steps in (1000, 20, 100)], ("0.1 MB", "0.5 MB"), {"not in tiles": rg.user, "revolve": rg.revolve}),
    "oscillators": ([(dict(steps=steps, n=1000), steps) for steps in (1000, 20, 100)], ("0.2 MB", "1 MB"), {"auto": rg.auto, "revolve": rg.revolve}),
    "nested": ([(dict(outer=outer, inner=50, n=64), 50 * outer) for outer in (200, 1, 2)], ("1 MB", "3.3 MB"), {"auto": rg.auto}),
}


class Timed:
    """A gradient, and the seconds of its fastest turn."""

    def __init__(self, function, program, **options):
        self.args, self.runs, self.best = program.args, 2, float("inf")
        self.run = rg.value_and_grad(function, program.argnums, threads=1, **options).compile(*program.args)
        self.turn()
        self.runs = max(1, int(0.01 / self.best))

    def turn(self):
        """Inside, on one core that others may use too: what they take is not counted."""
        for _ in range(self.runs):
            before = time.thread_time()
            self.run(*self.args)
            self.best = min(self.best, self.run.stats.seconds, time.thread_time() - before)

    @property
    def forward_steps(self):
        """Of the innermost of its loops, in all: an inner one runs whole with every step of the outer, and again as its reversal asks."""
        outer, *inside = self.run.plan.data["loops"]
        forward = outer["forward_steps"]
        for inner in inside:
            again = inner["forward_steps"] - (0 if inner["sweep"] == "alone" else inner["steps"])
            forward = forward * inner["steps"] + outer["steps"] * again
        return forward


def in_turns(all):
    end, turns = time.perf_counter() + SECONDS, 0
    while time.perf_counter() < end or turns < TURNS:
        for timed in all:
            timed.turn()
        turns += 1


def made(name, arguments, steps):
    """The function and the program with so many steps, where its file has their number as a constant, too."""
    module = programs.load(name)
    if hasattr(module, "STEPS"):
        module.STEPS = steps
    program = module.program(np.random.default_rng(0), **arguments)
    return next(iter(program.forms.values())), program


def schedules(name, backend):
    (long, *_), budgets, strategies = LOOPS[name]
    for label, strategy in strategies.items():
        for budget in budgets:
            where = f"{name}, {backend}, {label}, {budget}"
            try:
                yield where, Timed(*made(name, *long), backend=backend, strategy=strategy(), budget=budget)
            except rg.OverBudget as error:
                print(f"{where:44} {error}")


def rows(name, backend):
    (_, steps), (_, few), (_, fewer) = LOOPS[name][0]
    once, again = (Timed(*made(name, *LOOPS[name][0][k]), backend=backend, strategy=how()) for k, how in ((1, rg.user), (2, rg.recompute_all)))
    all = list(schedules(name, backend))
    in_turns([once, again, *(timed for _, timed in all)])
    turn = once.best / few
    advance = (again.best - fewer * turn) / (again.forward_steps - fewer)
    for where, timed in all:
        forward = timed.forward_steps
        pure = steps * turn + (forward - steps) * advance
        print(f"{where:44} {forward / steps:6.2f} a step, pure {pure:.3e}, measured {timed.best:.3e}: {timed.best / pure:.2f}", flush=True)


def main():
    for name in sys.argv[1:]:
        for backend in BACKENDS:
            rows(name, backend)


if __name__ == "__main__":
    main()
