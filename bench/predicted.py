"""Predicted seconds of plans against measured ones, of programs of the benchmark, by both back ends.

    .venv-bench/bin/python bench/predicted.py tanh fem lstm
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import sys
import time

import numpy as np

import programs
import retrograd as rg

BACKENDS = "cranelift", "llvm"
SECONDS = 0.5


def measured(compiled, args):
    """Of the fastest run, inside, on one core that others may use too: what they take is not counted."""
    best, taken = float("inf"), 0.0
    while taken < SECONDS:
        before, start = time.thread_time(), time.perf_counter()
        compiled(*args)
        best = min(best, compiled.stats.seconds, time.thread_time() - before)
        taken += time.perf_counter() - start
    return best


def row(name, function, args):
    compiled = function.compile(*args)
    predicted, seconds = compiled.plan.seconds, measured(compiled, args)
    print(f"{name:70} predicted {predicted:.3e}, measured {seconds:.3e}: {predicted / seconds:.2f}", flush=True)


def main():
    for name in sys.argv[1:]:
        for size in programs.load(name).SIZES:
            program = programs.make(name, size, np.random.default_rng(0))
            for form, function in program.forms.items():
                for backend in BACKENDS:
                    where = ", ".join(filter(None, (name, size, form, backend)))
                    row(f"{where}, value", rg.jit(function, backend=backend), program.args)
                    if program.argnums is not None:
                        for strategy in (rg.keep_all(), rg.auto()):
                            gradient = rg.value_and_grad(function, program.argnums, backend=backend, strategy=strategy)
                            row(f"{where}, {strategy}", gradient, program.args)


if __name__ == "__main__":
    main()
