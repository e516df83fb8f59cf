"""What `fast_math="egraph"` does for the benchmark's kernels: values and gradients with and without it, taking turns.

    .venv-bench/bin/python bench/fast_math.py                  # all kernels below
    .venv-bench/bin/python bench/fast_math.py lorenz --small   # one of them, at its small size
"""

import argparse
import importlib
import time

import numpy as np

import retrograd as rg

KERNELS = ["tanh", "lorenz", "logistic", "burgers", "nbody", "gmm", "lstm", "hdiff", "vadv", "softmax", "seidel", "w1"]


def flat(value):
    parts = value if isinstance(value, (tuple, list)) else [value]
    return np.concatenate([flat(part) if isinstance(part, (tuple, list)) else np.ravel(np.asarray(part, dtype=float)) for part in parts])


def measured(name, small, seconds):
    module = importlib.import_module(f"programs.{name}")
    size = module.SMALL if small else next(iter(module.SIZES.values()))
    program = module.program(np.random.default_rng(1), **size)
    function, compiled = next(iter(program.forms.values())), []
    # The kernels of `w` have no gradient.
    transform = (lambda **options: rg.jit(function, **options)) if not program.argnums else (lambda **options: rg.value_and_grad(function, argnums=program.argnums, **options))
    for options in ({}, {"fast_math": "egraph"}):
        begin = time.process_time()
        made = transform(threads=1, **options).compile(*program.args)
        compiled.append((made, time.process_time() - begin))
    results = [flat(made(*program.args)) for made, _ in compiled]
    scale = np.max(np.abs(results[0]))
    best, end = [np.inf, np.inf], time.perf_counter() + seconds
    while time.perf_counter() < end:
        for k, (made, _) in enumerate(compiled):
            begin = time.perf_counter()
            made(*program.args)
            best[k] = min(best[k], time.perf_counter() - begin)
    print(f"| {name} | {1e3 * best[0]:.3f} ms | {1e3 * best[1]:.3f} ms | {best[0] / best[1]:.2f} | {np.max(np.abs(results[0] - results[1])) / scale:.1e} "
          f"| {1e3 * compiled[0][1]:.0f} ms | {1e3 * compiled[1][1]:.0f} ms |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kernels", nargs="*", default=KERNELS)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    print("| kernel | plain | fast_math | faster by | largest difference | compile | with fast_math |\n|---|---|---|---|---|---|---|")
    for kernel in given.kernels:
        try:
            measured(kernel, given.small, given.seconds)
        except Exception as error:  # noqa: BLE001: a kernel that fails is a row
            print(f"| {kernel} | fails: {type(error).__name__}: {str(error).splitlines()[0][:100]} | | | | | |", flush=True)
