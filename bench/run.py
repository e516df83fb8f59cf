"""Times programs against hand-written C, JAX and NumPy: one thread, one core, all in one run, interleaved, best of many."""

import argparse
import datetime
import os
import pathlib
import platform
import subprocess
import sys
import time

# Before JAX is imported: one thread for everybody, on one core.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["OMP_NUM_THREADS"] = "1"
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import numpy as np

import retrograd as rg
from contender import GCC, Contender, Part
from programs import jacobi, lorenz, tanh_loop

PROGRAMS = {"tanh": tanh_loop, "jacobi": jacobi, "lorenz": lorenz}
TOLERANCE = 1e-9
ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    options = parse()
    jax.config.update("jax_enable_x64", True)
    warm_up()
    parts = []
    for name in options.only or PROGRAMS:
        for part in parts_of(PROGRAMS[name]):
            measure(part, options.seconds)
            parts.append(part)
    text = "\n".join([header(), *summary(parts), "", *details(parts), *(plans(parts) if options.plans else [])]) + "\n"
    print(text)
    if options.record:
        (ROOT / "bench" / "results" / f"{datetime.date.today()}.md").write_text(text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=PROGRAMS, help="this program, not all; may be given again")
    parser.add_argument("--seconds", type=float, default=3.0, help="time for each contender")
    parser.add_argument("--plans", action="store_true", help="print the plans too")
    parser.add_argument("--record", action="store_true", help="write bench/results/<date>.md")
    return parser.parse_args()


def warm_up():
    """What the first use of a library costs is not the compile time of a program."""
    jax.block_until_ready(jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: x + 1.0, x))(np.zeros(3)))
    rg.jit(increment)(np.zeros(3))


def increment(x):
    return x + 1.0


# Contenders


def parts_of(program):
    """The parts of a program, with results that agree."""
    random = np.random.default_rng(0)
    args = program.arguments(random)
    copies = lambda: [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]
    c_values, c_gradients = program.c(args)
    value = Part(
        program.NAME,
        "value",
        [ours("retrograd", rg.jit(program.loss), args, lambda result: (result, None))],
        c_values,
        [with_jax(who, f, args, lambda result: (result, None)) for who, f in program.JAX_VALUES.items()],
        [Contender("NumPy" if isinstance(args[0], np.ndarray) else "Python", lambda: (program.loss(*copies()), None))],
    )
    strategies = [dict(strategy=rg.keep_all()) if budget is None else dict(budget=budget) for budget in program.BUDGETS]
    names = ["retrograd, keep_all" if budget is None else f"retrograd, {budget}" for budget in program.BUDGETS]
    gradient = Part(
        program.NAME,
        "gradient",
        [ours(who, rg.value_and_grad(program.loss, program.ARGNUMS, **how), args, tuple) for who, how in zip(names, strategies)],
        c_gradients,
        [with_jax(who, jax.value_and_grad(f, program.ARGNUMS), args, tuple) for who, f in program.JAX_LOSSES.items()],
        [],
    )
    check(value, gradient, args, random, program)
    return [value, gradient]


def ours(who, function, args, unpack):
    start = time.perf_counter()
    function(*args)
    seconds = time.perf_counter() - start
    compiled = function.compile(*args)
    planned, measured = compiled.plan.bytes_peak, compiled.stats.bytes_peak
    assert planned == measured, f"{who}: {planned} bytes planned, {measured} measured"
    plan = str(compiled.plan).replace(str(ROOT) + os.sep, "").strip()
    return Contender(who, lambda: unpack(function(*args)), planned, seconds, clock=lambda: compiled.stats.seconds, plan=plan)


def with_jax(who, function, args, unpack):
    on_device = jax.block_until_ready([jax.numpy.asarray(x) for x in args])
    jitted = jax.jit(function)
    start = time.perf_counter()
    jax.block_until_ready(jitted(*on_device))
    seconds = time.perf_counter() - start
    memory = jitted.lower(*on_device).compile().memory_analysis()
    taken = None if memory is None else memory.temp_size_in_bytes + memory.output_size_in_bytes
    return Contender("JAX, " + who, lambda: unpack(jax.block_until_ready(jitted(*on_device))), taken, seconds)


def check(value, gradient, args, random, program):
    """All values and gradients agree, and the gradient has the slope that NumPy finds by the complex step."""
    expected, reference = gradient.c[0].run()
    reference = [np.array(g, dtype=float) for g in reference]
    for part in (value, gradient):
        for contender in part.contenders():
            found, gradients = contender.run()
            where = f"{part.program}, {part.name}, {contender.who}"
            require_close(found, expected, where + ": value")
            for k, (g, r) in enumerate(zip(gradients or (), reference, strict=gradients is not None)):
                require_close(g, r, f"{where}: gradient {k}")
    directions = [random.standard_normal(np.shape(x)) for x in args]
    step = 1e-30
    slope = np.imag(program.loss(*(x + 1j * step * d for x, d in zip(args, directions)))) / step
    require_close(sum(np.sum(g * d) for g, d in zip(reference, directions)), slope, f"{program.NAME}: slope against the complex step")


def require_close(found, expected, where):
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        sys.exit(f"{where}: shape {found.shape}, expected {expected.shape}")
    error = np.max(np.abs(found - expected)) / np.max(np.abs(expected))
    if not error <= TOLERANCE:
        sys.exit(f"{where}: relative error {error:.1e}, allowed {TOLERANCE:.0e}")


# Times


def measure(part, seconds):
    """Rounds in which each runs once, until each has had its time; at least three."""
    spent = {id(contender): 0.0 for contender in part.contenders()}
    while waiting := [c for c in part.contenders() if spent[id(c)] < seconds or len(c.seconds) < 3]:
        for contender in waiting:
            start = time.perf_counter()
            contender.run()
            contender.seconds.append(time.perf_counter() - start)
            contender.seconds_inside.append(contender.clock() if contender.clock else contender.seconds[-1])
            spent[id(contender)] += contender.seconds[-1]


# Output


def header():
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    command = " ".join(["bench/run", *sys.argv[1:]])
    return f"""# {datetime.date.today()}, commit {commit}

`{command}` on {cpu()}; Python {platform.python_version()}, NumPy {np.__version__}, JAX {jax.__version__}, `{" ".join(GCC)}` {gcc}.
One thread on one core, float64; all contenders in one process, in turns; the best of all runs. All results agree to {TOLERANCE:.0e} and with the complex step.
Times are of whole calls from Python; "inside" is ours without the copies from and to NumPy. Bytes are results and everything in between, not the
arguments: ours the plan (equal to the measured), JAX's temp and output of `memory_analysis`, C's by hand. "First" is from the source to the first
result, its run included; for C it is gcc alone. C may contract to FMA, as JAX does; "/ C" is to the first C of the part.
"""


def cpu():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    return f"{facts.get('model name', platform.processor())} (family {facts.get('cpu family')}, model {facts.get('model')}, {os.cpu_count()} cores)"


def summary(parts):
    """The best C that keeps the order of the program's loops, and the best JAX; C with the loops interchanged has its own column."""
    rows = [["program", "", "ours", "C", "JAX", "ours / C", "ours / C tiled", "JAX / ours", "bytes: ours", "C", "JAX", "first: ours", "JAX"]]
    for part in parts:
        tiled = [c for c in part.c if "tiles" in c.who]
        c = min((c for c in part.c if c not in tiled), key=lambda c: c.best)
        best = min(part.jax, key=lambda x: x.best)
        for one in part.ours:
            rows.append(
                [part.program, one.who.replace("retrograd", part.name), ms(one.best), ms(c.best), ms(best.best)]
                + [f"{one.best / c.best:.2f}", *([f"{one.best / tiled[0].best:.2f}"] if tiled else [""]), f"{best.best / one.best:.2f}"]
                + [size(one.bytes_taken), size(c.bytes_taken), size(best.bytes_taken), ms(one.seconds_first), ms(best.seconds_first)]
            )
    return table(rows)


def details(parts):
    rows = [["program", "", "who", "best", "inside", "median", "/ C", "bytes", "first", "runs"]]
    for part in parts:
        for one in part.contenders():
            rows.append(
                [part.program, part.name, one.who, ms(one.best), ms(min(one.seconds_inside)), ms(float(np.median(one.seconds))), f"{one.best / part.c[0].best:.2f}", size(one.bytes_taken)]
                + ["" if one.seconds_first is None else ms(one.seconds_first), str(len(one.seconds))]
            )
    return table(rows)


def plans(parts):
    return [f"\n{part.program}, {one.who}:\n\n```\n{one.plan}\n```" for part in parts for one in part.ours]


def table(rows):
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def ms(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds * 1e3:.0f} ms"


def size(count):
    if count is None:
        return ""
    return f"{count} B" if count < 1000 else f"{count / 1e3:.3g} kB" if count < 1e6 else f"{count / 1e6:.3g} MB"


main()
