"""What an element of each elementwise function takes: ours with the machine's vectors and with 128 bits, against NumPy, by turns in one process.

    .venv-bench/bin/python bench/functions.py            # x**y and the others
    .venv-bench/bin/python bench/functions.py pow exp

Best times over 10,000 elements, which stay in the near cache; one thread.
"""

import os
import sys
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np

import retrograd as rg

FUNCTIONS = {
    "pow": (2, lambda x, y: x**y),
    "sqrt": (1, lambda x: np.sqrt(x)),
    "exp": (1, lambda x: np.exp(x)),
    "log": (1, lambda x: np.log(x)),
    "sin": (1, lambda x: np.sin(x)),
    "tanh": (1, lambda x: np.tanh(x)),
    "arctan2": (2, lambda x, y: np.arctan2(x, y)),
    "hypot": (2, lambda x, y: np.hypot(x, y)),
    "logaddexp": (2, lambda x, y: np.logaddexp(x, y)),
    "cbrt": (1, lambda x: np.cbrt(x)),
}
ELEMENTS, SECONDS = 10_000, 0.5


def main():
    print("| function | ns, machine's vectors | ns, 128 bits | ns, NumPy | NumPy / ours | NumPy / 128 bits |\n|---|---|---|---|---|---|")
    for name in sys.argv[1:] or FUNCTIONS:
        count, f = FUNCTIONS[name]
        args = np.random.default_rng(0).uniform(0.5, 3.0, (count, ELEMENTS))
        wide, narrow = (rg.jit(f, threads=1, backend=backend) for backend in ("cranelift", "cranelift:narrow"))
        assert np.array_equal(wide(*args), narrow(*args)), f"{name}: other bits with other vectors"
        wide, narrow, plain = (1e9 * seconds / ELEMENTS for seconds in best([wide, narrow, f], args))
        print(f"| {name} | {wide:.2f} | {narrow:.2f} | {plain:.2f} | {plain / wide:.2f} | {plain / narrow:.2f} |", flush=True)


def best(functions, args):
    """The fastest turn of each: what else the machine does meets all alike."""
    found = [float("inf")] * len(functions)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for k, f in enumerate(functions):
            begin = time.perf_counter()
            f(*args)
            found[k] = min(found[k], time.perf_counter() - begin)
    return found


if __name__ == "__main__":
    main()
