"""What schedules take beyond the work that they ask for: measured seconds to those of their steps.

    .venv-bench/bin/python bench/overhead.py lorenz logistic tanh oscillators nested

Both prices of a step are measured where nothing interrupts it, by the same back end and over so few steps that all is in the cache. One that runs again takes what
the value of the function takes. One that is reversed takes what the gradient takes that keeps of every step what the schedule keeps of those that it reverses: as many
bytes of records, or its state. (`recompute_all` would be too cheap a measure of steps that run again: where nothing depends on what ran before, as after each return
to the start, a processor runs the end of one replay and the beginning of the next at once.) All are measured in turns, and of each the fastest turn counts, so that
what others do on the machine is in none of them.
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

NUMBERS = [(dict(steps=steps, segment=10), steps) for steps in (1_000_000, 2000)]
BY_NUMBERS = NUMBERS, ("2 kB", "16 kB", "1 MB"), {"auto": rg.auto, "revolve": rg.revolve}
# Arguments and steps of a program, and of one with few steps; budgets; strategies. `user` without fates is `auto` without tiles.
LOOPS = {
    "lorenz": BY_NUMBERS,
    "logistic": BY_NUMBERS,
    "tanh": ([(dict(n=1000), steps) for steps in (1000, 20)], ("0.1 MB", "0.5 MB"), {"not in tiles": rg.user, "revolve": rg.revolve}),
    "oscillators": ([(dict(steps=steps, n=1000), steps) for steps in (1000, 20)], ("0.2 MB", "1 MB"), {"auto": rg.auto, "revolve": rg.revolve}),
    "nested": ([(dict(outer=outer, inner=50, n=64), 50 * outer) for outer in (200, 2)], ("1 MB", "3.3 MB"), {"auto": rg.auto}),
}


class Timed:
    """A compiled program, and the seconds of its fastest turn."""

    def __init__(self, transformed, program):
        self.args, self.runs, self.best = program.args, 2, float("inf")
        self.run = transformed.compile(*program.args)
        self.turn()
        self.runs = max(1, int(0.01 / self.best))

    def turn(self):
        """Of equal length for all, whose clock is then the same."""
        seconds = 0.0
        for _ in range(self.runs):
            self.run(*self.args)
            seconds += self.run.stats.seconds
        self.best = min(self.best, seconds / self.runs)

    @property
    def forward_steps(self):
        """Of the innermost of its loops, in all: an inner one runs whole with every step of the outer, and again as its reversal asks."""
        outer, *inside = self.run.plan.data["loops"]
        forward = outer["forward_steps"]
        for inner in inside:
            again = inner["forward_steps"] - (0 if inner["sweep"] == "joint" else inner["steps"])
            forward = forward * inner["steps"] + outer["steps"] * again
        return forward


def in_turns(all):
    end, turns = time.perf_counter() + SECONDS, 0
    while time.perf_counter() < end or turns < TURNS:
        for timed in all:
            timed.turn()
        turns += 1


def gradient(function, program, **options):
    return Timed(rg.value_and_grad(function, program.argnums, threads=1, **options), program)


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
                yield where, gradient(*made(name, *long), backend=backend, strategy=strategy(), budget=budget)
            except rg.OverBudget as error:
                print(f"{where:44} {error}")


def turned_like(schedule, name, backend):
    """The gradient over few steps, every one of which is kept as `schedule` keeps the steps that it reverses."""
    arguments, steps = LOOPS[name][0][1]
    few = made(name, arguments, steps)
    loop, *inside = schedule.run.plan.data["loops"]
    kept = loop["record_bytes"] or [loop["state_bytes"]]
    if not inside and len(kept) == 1:
        for besides in range(0, 400, 8):
            try:
                timed = gradient(*few, backend=backend, strategy=rg.user(), budget=steps * kept[0] + besides)
            except rg.OverBudget:
                continue
            (like,) = timed.run.plan.data["loops"]
            if like["schedule"] == "keep all" and like["record_bytes"] == kept:
                return timed
    return gradient(*few, backend=backend, strategy=rg.user())


def rows(name, backend):
    (_, steps), (arguments, few) = LOOPS[name][0]
    function, program = made(name, arguments, few)
    value = Timed(rg.jit(function, threads=1, backend=backend), program)
    all = [(where, timed, turned_like(timed, name, backend)) for where, timed in schedules(name, backend)]
    in_turns([value, *(timed for _, *pair in all for timed in pair)])
    advance = value.best / few
    for where, timed, like in all:
        forward = timed.forward_steps
        turn = (like.best - (like.forward_steps - few) * advance) / few
        pure = steps * turn + (forward - steps) * advance
        print(f"{where:44} {forward / steps:6.2f} a step, pure {pure:.3e}, measured {timed.best:.3e}: {timed.best / pure:.2f}", flush=True)


def main():
    for name in sys.argv[1:]:
        for backend in BACKENDS:
            rows(name, backend)


if __name__ == "__main__":
    main()
