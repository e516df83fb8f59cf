"""What it costs to contract less: values and gradients of the programs as they are, and with `exact=True`, by turns in one process.

    .venv-bench/bin/python bench/rounding.py                 # all programs at their small sizes
    .venv-bench/bin/python bench/rounding.py lorenz w2 --full

A row says how often each operation stands in the frozen Program of the default, and the ratio of the best times, exact to default. The value must have the same
bits with and without gradients, either way.
"""

import argparse
import os
import pathlib
import re
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy as np

import programs
import retrograd as rg

OPERATIONS = "fma", "mul", "add", "sub"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=[])
    parser.add_argument("--full", action="store_true", help="at the sizes of the benchmark")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each program and part")
    parser.add_argument("--count", action="store_true", help="count operations, and time nothing")
    options = parser.parse_args()
    print("| program | form | part | " + " | ".join(OPERATIONS) + " | exact / default |")
    print("|---|---|---|" + "---|" * (len(OPERATIONS) + 1))
    for name in options.programs or programs.NAMES:
        for size in programs.sizes(name)[1:] if options.full else ["small"]:
            program = programs.make(name, size, np.random.default_rng(0))
            for form, f in program.forms.items():
                measure(name, form, f, program, options)


def measure(name, form, f, program, options):
    makers = {"value": lambda **how: rg.jit(f, threads=1, **how)}
    if program.argnums is not None:
        makers["gradient"] = lambda **how: rg.value_and_grad(f, program.argnums, threads=1, **how)
    values = {}
    for part, make in makers.items():
        default = make()
        counts = [len(re.findall(rf"= {op} ", default.compile(*program.args)._executable.program())) for op in OPERATIONS]
        ratio = "" if options.count else f"{best_ratio(make(exact=True), default, program.args, options.seconds):.3f}"
        if not options.count:
            for how in ({}, {"exact": True}):
                value = make(**how)(*program.args)
                value = value if part == "value" else value[0]
                bits = [np.asarray(x).tobytes() for x in (value if isinstance(value, tuple) else (value,))]
                assert values.setdefault(str(how), bits) == bits, f"{name}: the value has other bits with gradients, {how}"
        print(f"| {name} | {form} | {part} | {' | '.join(map(str, counts))} | {ratio} |", flush=True)


def best_ratio(exact, default, args, seconds):
    """Best times by turns: what else the machine does meets both alike."""
    best = [float("inf")] * 2
    for f in (exact, default):
        f(*args)
    end = time.perf_counter() + seconds
    turns = 0
    while time.perf_counter() < end or turns < 5:
        for k, f in enumerate((exact, default)):
            start = time.perf_counter()
            f(*args)
            best[k] = min(best[k], time.perf_counter() - start)
        turns += 1
    return best[0] / best[1]


if __name__ == "__main__":
    main()
