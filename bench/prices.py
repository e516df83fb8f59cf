"""What single things cost on this machine, for the table of `prices.rs` in the folder `work` of the planner: picoseconds of one thread, by both back ends.

    .venv-bench/bin/python bench/prices.py

A price is a difference of two runs that differ by the thing alone, each the fastest of many short ones, so that a machine with other work to do gives nearly the same.
"""

import os

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import linecache

import numpy as np

import retrograd as rg

BACKENDS = "cranelift", "llvm"
RUNS = 60
IN_CACHE = 1024  # elements
FEW = 14  # elements that fill no block of lanes

# How a function stands in a step, so that its argument stays where it is tame and nothing is folded away.
FUNCTIONS = {
    "add": "{x} + c",
    "mul": "{x} * c",
    "min": "np.minimum({x}, c)",
    "select": "np.where({x} > c, {x}, c)",
    "div": "c / {x}",
    "sqrt": "np.sqrt({x})",
    "exp": "np.exp({x})",
    "log": "np.log({x})",
    "sin": "np.sin({x})",
    "cos": "np.cos({x})",
    "tanh": "np.tanh({x})",
    "expm1": "np.expm1({x})",
    "log1p": "np.log1p({x})",
    "logistic": "1.0 / (1.0 + np.exp(-{x}))",
    "tan": "np.tan({x})",
    "atan": "np.arctan({x})",
    "asin": "np.arcsin({x})",
    "sinh": "np.sinh({x})",
    "cosh": "np.cosh({x})",
    "asinh": "np.arcsinh({x})",
    "pow": "np.power({x}, c)",
    "atan2": "np.arctan2({x}, c)",
    "hypot": "np.hypot({x}, c)",
    "cbrt": "np.cbrt({x})",
    "rem": "np.fmod({x}, c)",
}


def defined(name, source):
    """A function from its source, which the front end can read."""
    file = f"<{name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope = {"np": np}
    exec(compile(source, file, "exec"), scope)
    return scope[name]


def seconds(function, args, backend):
    """Of the fastest run, inside."""
    compiled = rg.jit(function, backend=backend).compile(*args)
    best = float("inf")
    for _ in range(RUNS):
        compiled(*args)
        best = min(best, compiled.stats.seconds)
    return best


def step(expression, times):
    """The function so many times in one step, each of an argument of its own."""
    return "x + 1e-3 * (" + " + ".join(expression.format(x=f"(x + {0.001 * k})") for k in range(times)) + ")" if times else "x + 1e-3"


def loop(expression, times, steps):
    return defined("loop", f"def loop(x, c):\n    for t in range({steps}):\n        x = {step(expression, times)}\n    return x\n")


def price(expression, n, backend, steps):
    """Of one function beside the two additions and the word of code around it, per element."""
    x, c = (np.linspace(0.3, 0.6, n), np.linspace(0.7, 0.8, n)) if n > 1 else (0.4, 0.7)
    few, many = (seconds(loop(expression, times, steps), (x, c), backend) for times in (1, 3))
    return (many - few) / 2 / (n * steps) * 1e12


# What arrays are read and written by, per number of the result: at indices, in rows of three at indices, across such rows, by single numbers in lanes.
ACCESSES = {
    "a number at an index, read": ("r = r + y[i]", 1),
    "a number at an index, added to": ("np.add.at(y, i, r + t)", 1),
    "a row of three at an index, read": ("q = q + x[i]", 3),
    "a row of three at an index, added to": ("np.add.at(x, i, q + t)", 3),
    "rows of three, across": ("q = np.stack([q[:, 1] + 1.0, q[:, 2] * 2.0, q[:, 0] + 3.0], axis=1)", 3),
}


def accessed(statement, numbers, backend, steps=50):
    """Of one number that is read or written so, beside an addition and the words of code around it."""
    random = np.random.default_rng(0)
    args = random.uniform(size=IN_CACHE), random.uniform(size=(IN_CACHE, 3)), np.zeros(IN_CACHE), np.zeros((IN_CACHE, 3)), random.integers(0, IN_CACHE, IN_CACHE)
    source = f"def accesses(r, q, y, x, i):\n    for t in range({steps}):\n        {statement}\n    return r, q, y, x\n"
    return seconds(defined("accesses", source), args, backend) / (numbers * IN_CACHE * steps) * 1e12


def in_lanes(expression, backend, steps=50):
    """Of one function of single numbers of a loop that adds up what its steps compute."""
    row = "x[e] + 1e-3 * ({})".format
    terms = lambda times: row(" + ".join(expression.replace("c", "c[e]").format(x=f"(x[e] + {0.001 * k})") for k in range(times)))
    source = "def elements(x, c, i):\n    for t in range({}):\n        r = np.zeros({})\n        for e in range({}):\n            r[i[e]] += {}\n        x = r\n    return x\n".format
    args = np.linspace(0.3, 0.6, IN_CACHE), np.linspace(0.7, 0.8, IN_CACHE), np.arange(IN_CACHE)
    few, many = (seconds(defined("elements", source(steps, IN_CACHE, IN_CACHE, terms(times))), args, backend) for times in (6, 12))
    return (many - few) / 6 / (IN_CACHE * steps) * 1e12


# Extents of products: large, of short rows, with columns that fill no vector, with one column, with one row.
PRODUCTS = (512, 512, 512), (5000, 16, 16), (10_000, 10, 10), (1000, 100, 10), (512, 512, 1), (1, 512, 512)
PRODUCT = defined("product", "def product(a, b):\n    return a @ b\n")
SUM = defined("total", "def total(x):\n    return np.sum(x)\n")


def main():
    print(f"{'':10}" + "".join(f"{backend + ' ' + where:>20}" for backend in BACKENDS for where in ("array", "number")))
    for name, expression in FUNCTIONS.items():
        row = [price(expression, n, backend, steps) for backend in BACKENDS for n, steps in ((IN_CACHE, 200), (1, 20_000))]
        print(f"{name:10}" + "".join(f"{x:20.0f}" for x in row), flush=True)
    for name in "exp", "tanh":
        row = [seconds(loop(FUNCTIONS[name], 1, 10_000), (np.linspace(0.3, 0.6, FEW), np.linspace(0.7, 0.8, FEW)), backend) / 1e4 * 1e12 for backend in BACKENDS]
        print(f"{name} of {FEW} elements, all of them: " + ", ".join(f"{backend} {x:.0f}" for backend, x in zip(BACKENDS, row)), flush=True)
    for what, (statement, numbers) in ACCESSES.items():
        print(f"{what}: " + ", ".join(f"{backend} {accessed(statement, numbers, backend):.0f}" for backend in BACKENDS), flush=True)
    for name in "add", "mul", "div":
        print(f"{name}, in lanes: " + ", ".join(f"{backend} {in_lanes(FUNCTIONS[name], backend):.0f}" for backend in BACKENDS), flush=True)
    for m, k, n in PRODUCTS:
        a, b = np.ones((m, k)), np.ones((k, n))
        print(f"a multiplication of a product of {m} × {k} and {k} × {n}: {seconds(PRODUCT, (a, b), 'cranelift') / (m * k * n) * 1e12:.0f}", flush=True)
    for n, what in ((1 << 20, "in the last cache"), (1 << 24, "in memory")):
        print(f"a word read, {what}: {seconds(SUM, (np.ones(n),), 'cranelift') / n * 1e12:.0f}", flush=True)
    for what, n, steps in (("in cache", IN_CACHE, 200), ("in the last cache", 1 << 20, 8), ("in memory", 1 << 23, 8)):
        arrays = np.linspace(0.3, 0.6, n), np.linspace(0.7, 0.8, n)
        row = [seconds(loop("", 0, steps), arrays, backend) / (n * steps) * 1e12 for backend in BACKENDS]
        print(f"a word read, added to and written, {what}: " + ", ".join(f"{backend} {x:.0f}" for backend, x in zip(BACKENDS, row)), flush=True)


if __name__ == "__main__":
    main()
