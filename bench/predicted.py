"""Predicted seconds of plans against measured ones, of programs of the benchmark, by one thread of both back ends.

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
RUNS = 3


def measured(compiled, args):
    """Of the fastest run, inside, on one core that others may use too: what they take is not counted. The first run touches memory for the first time."""
    compiled(*args)
    best, taken, runs = float("inf"), 0.0, 0
    while taken < SECONDS or runs < RUNS:
        before, start = time.thread_time(), time.perf_counter()
        compiled(*args)
        # A thread's own time may be counted in steps that are longer than a short run.
        best = min(best, compiled.stats.seconds, time.thread_time() - before or float("inf"))
        taken, runs = taken + time.perf_counter() - start, runs + 1
    return best


def row(name, function, args):
    try:
        compiled = function.compile(*args)
    except rg.Unsupported as error:
        return print(f"{name:70} {str(error).splitlines()[0]}")
    predicted, seconds = compiled.plan.seconds, measured(compiled, args)
    print(f"{name:70} predicted {predicted:.3e}, measured {seconds:.3e}: {predicted / seconds:.2f}", flush=True)


def main():
    for name in sys.argv[1:]:
        for size in programs.load(name).SIZES:
            program = programs.make(name, size, np.random.default_rng(0))
            for form, function in program.forms.items():
                for backend in BACKENDS:
                    where = ", ".join(filter(None, (name, size, form, backend)))
                    row(f"{where}, value", rg.jit(function, backend=backend, threads=1), program.args)
                    if program.argnums is not None:
                        for strategy in (rg.keep_all(), rg.auto()):
                            gradient = rg.value_and_grad(function, program.argnums, backend=backend, strategy=strategy, threads=1)
                            row(f"{where}, {strategy}", gradient, program.args)


if __name__ == "__main__":
    main()
