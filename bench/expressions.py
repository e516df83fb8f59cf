"""Formulas against SymPy's lambdify, CasADi and JAX: a gradient of 2000 operations, and how times grow with size.

    .venv/bin/python -m pip install sympy casadi jax && .venv/bin/python bench/expressions.py
"""

import random
import time

import numpy as np

import retrograd as rg

OPERATIONS = 2000
NAMES = ["x", "y", "z", "w"]


def steps(count, sin, tanh, values):
    """The same chain of operations for whoever has sin, tanh and operators."""
    source, pool = random.Random(1), list(values)
    for k in range(count // 4):
        a, b = pool[source.randrange(max(0, len(pool) - 8), len(pool))], pool[source.randrange(len(pool))]
        pool.append(sin(a) * b + 0.5 * a if k % 2 else tanh(a - b) * 0.9 + b)
    return pool[-1] + sum(pool[-4:-1], start=pool[0])


def best(run, seconds=0.5):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def timed(make):
    begin = time.perf_counter()
    made = make()
    return made, time.perf_counter() - begin


def ours(count):
    symbols = rg.symbols(" ".join(NAMES))
    f, built = timed(lambda: steps(count, np.sin, np.tanh, symbols))
    g = rg.grad(f.of(*NAMES), argnums=(0, 1, 2, 3))
    compiled, seconds = timed(lambda: g.compile(*POINT))
    return compiled, built + seconds


def by_sympy(count):
    import sympy

    symbols = sympy.symbols(NAMES)
    f = steps(count, sympy.sin, sympy.tanh, symbols)
    return sympy.lambdify(symbols, [f.diff(symbol) for symbol in symbols], modules="math", cse=True)


def by_casadi(count):
    import casadi

    symbols = [casadi.SX.sym(name) for name in NAMES]
    f = steps(count, casadi.sin, casadi.tanh, symbols)
    function = casadi.Function("g", [casadi.vertcat(*symbols)], [casadi.gradient(f, casadi.vertcat(*symbols))])
    buffer, evaluate = function.buffer()
    given, taken = np.array(POINT), np.zeros(4)
    buffer.set_arg(0, memoryview(given))
    buffer.set_res(0, memoryview(taken))

    def run(*_):
        evaluate()
        return taken.copy()

    return run


def by_jax(count):
    import jax

    jax.config.update("jax_enable_x64", True)
    g = jax.jit(jax.grad(lambda *values: steps(count, jax.numpy.sin, jax.numpy.tanh, values), argnums=(0, 1, 2, 3)))
    compiled = g.lower(*POINT).compile()
    return lambda *values: jax.block_until_ready(compiled(*values))


POINT = [0.3, 0.5, 0.7, 0.2]


def main():
    print(f"gradient of {OPERATIONS} operations by 4 variables, one run of all on this machine\n")
    (mine, seconds) = ours(OPERATIONS)
    reference = np.array(mine(*POINT))
    print(f"{'':12}{'derive and compile':>20}{'evaluate':>14}")
    print(f"{'retrograd':12}{seconds:18.3f} s{1e6 * best(lambda: mine(*POINT)):11.2f} µs    (in machine code {1e6 * mine.stats.seconds:.2f} µs)")
    for name, make, count in [("casadi", by_casadi, OPERATIONS), ("jax", by_jax, OPERATIONS // 10), ("sympy", by_sympy, OPERATIONS // 20)]:
        function, seconds = timed(lambda: make(count))
        if count == OPERATIONS:
            np.testing.assert_allclose(np.array(function(*POINT), dtype=float).ravel(), reference, rtol=1e-9)
        note = "" if count == OPERATIONS else f"    (of {count} operations only)"
        print(f"{name:12}{seconds:18.3f} s{1e6 * best(lambda: function(*POINT)):11.2f} µs{note}")
    print("\nsize, seconds to build, derive and compile, and the ratio to the size before")
    before = None
    for count in (25_000, 50_000, 100_000, 200_000):
        _, seconds = ours(count)
        print(f"{count:8}{seconds:10.2f}" + ("" if before is None else f"{seconds / before:8.2f}"))
        before = seconds


main()
