"""What it takes to load a saved compilation, against what it took to compile it: gradients of the benchmark's programs at their small sizes.

    .venv-bench/bin/python bench/loads.py
    .venv-bench/bin/python bench/loads.py fem lstm --full

A load reads the file, verifies it, lowers it and makes machine code, on all cores that this process may use (`taskset -c 0` for one); it must
give the same bits. Best of five.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy as np

import programs
import retrograd as rg


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=[])
    parser.add_argument("--full", action="store_true", help="at the sizes of the benchmark")
    options = parser.parse_args()
    print("| program | form | instructions | compile, ms | load, ms | compile / load |\n|---|---|---|---|---|---|")
    for name in options.programs or programs.NAMES:
        for size in programs.sizes(name)[1:] if options.full else ["small"]:
            program = programs.make(name, size, np.random.default_rng(0))
            for form, f in program.forms.items():
                measure(name, form, f, program)


def measure(name, form, f, program):
    derived = rg.jit(f, threads=1) if program.argnums is None else rg.value_and_grad(f, program.argnums, threads=1)
    begin = time.perf_counter()
    compiled = derived.compile(*program.args)
    compiling = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.rgx")
        compiled.save(path, freeze=True)
        loading = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            loaded = rg.load(path)
            loading = min(loading, time.perf_counter() - begin)
    assert bits(loaded(*program.args)) == bits(compiled(*program.args)), f"{name}: what is loaded gives other bits"
    count = compiled._executable.program().count("\n  %")
    print(f"| {name} | {form} | {count} | {1e3 * compiling:.1f} | {1e3 * loading:.2f} | {compiling / loading:.0f} |", flush=True)


def bits(result):
    return [bits(each) for each in result] if isinstance(result, (tuple, list)) else np.asarray(result).tobytes()


if __name__ == "__main__":
    main()
