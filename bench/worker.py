"""One program at one size in its own process: every contender is made and checked, and timed in turns. Writes JSON lines for `run.py`."""

import json
import os
import pathlib
import sys
import tempfile
import time

# Before JAX is imported: one thread for everybody, on one core.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import numpy as np

import programs
import retrograd as rg
from contender import AS_IT_STANDS, WITH_DISK, Contender

BACKENDS = "cranelift", "llvm"
ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    task = json.loads(sys.argv[1])
    jax.config.update("jax_enable_x64", True)
    warm_up()
    random = np.random.default_rng(0)
    program = programs.make(task["program"], task["size"], random)
    makers = value_makers(program), [*gradient_makers(program), *(peer_makers(program) if task["peers"] else ())]
    for part, makers in zip(("value", "gradient"), makers):
        contenders = made(part, makers, task["skip"])
        checked = agreeing(part, contenders, program.tolerance)
        if part == "gradient" and task["size"] == "small" and checked:
            check_slope(program, checked[0], random)
        if task["seconds"]:
            measure(part, checked, task["seconds"])
        for contender in checked:
            report(part, contender)


def say(**facts):
    print(json.dumps(facts), flush=True)


def warm_up():
    """What the first use of a library costs is not the compile time of a program."""
    jax.block_until_ready(jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: x + 1.0, x))(np.zeros(3)))
    for backend in BACKENDS:
        rg.jit(increment, backend=backend)(np.zeros(3))


def increment(x):
    return x + 1.0


# Contenders: each maker is (side, who, function that returns contenders)


def value_makers(program):
    values = lambda result: (result, None)
    if program.c:
        yield "c", "C", lambda: program.c(program.args)[0]
    for who, f in program.jax_values.items():
        yield "jax", f"JAX, {who}", lambda who=who, f=f: [with_jax(f"JAX, {who}", f, program.args, values)]
    for form, f in program.forms.items():
        for backend in BACKENDS:
            who = named(form, "", backend)
            yield "ours", who, lambda who=who, form=form, f=f, backend=backend: [ours(who, form, rg.jit(f, backend=backend), program.args, values)]
    if program.numpy:
        form, f = next(iter(program.forms.items()))
        yield "numpy", "NumPy", lambda: [Contender("NumPy", lambda: (f(*copies(program.args)), None))]


def gradient_makers(program):
    if program.argnums is None:
        return
    if program.c:
        yield "c", "C", lambda: program.c(program.args)[1]
    for who, f in program.jax_losses.items():
        yield "jax", f"JAX, {who}", lambda who=who, f=f: [with_jax(f"JAX, {who}", jax.value_and_grad(f, program.argnums), program.args, tuple)]
    for form, f in program.forms.items():
        everything = []  # bytes that keep_all takes
        for budget in program.budgets:
            for backend in BACKENDS:
                who = named(form, said(budget), backend)
                make = lambda who=who, form=form, budget=budget, backend=backend, everything=everything: [ours_within(who, form, program, budget, backend, everything)]
                yield "ours", who, make


def peer_makers(program):
    losses, functions = program.peers() if program.peers else ({}, {})
    for who, f in losses.items():
        yield "peer", who, lambda who=who, f=f: [with_jax(who, jax.value_and_grad(f, program.argnums), program.args, tuple)]
    for who, f in functions.items():
        yield "peer", who, lambda who=who, f=f: [from_python(who, f, program.args)]


def named(form, budget, backend):
    return ", ".join(filter(None, ["retrograd", form, budget, "LLVM" if backend == "llvm" else ""]))


def said(budget):
    return f"{(1 - budget) * 100:.3g} % less" if isinstance(budget, float) else budget


def ours_within(who, form, program, budget, backend, everything):
    if isinstance(budget, float) and not everything:
        raise AssertionError("keep_all, of which this budget is a part, failed")
    strategies = {"keep_all": dict(strategy=rg.keep_all()), "auto": dict(strategy=rg.auto())}
    how = dict(budget=int(budget * everything[0])) if isinstance(budget, float) else strategies.get(budget, dict(budget=budget))
    if isinstance(budget, str) and budget.endswith(AS_IT_STANDS):
        how = dict(budget=budget.removesuffix(AS_IT_STANDS), strategy=rg.user())
    if isinstance(budget, str) and budget.endswith(WITH_DISK):
        how = dict(budget=budget.removesuffix(WITH_DISK), spill=tempfile.gettempdir(), spill_budget="10 GB")
    function = rg.value_and_grad(program.forms[form], program.argnums, backend=backend, **how)
    result = ours(who, form, function, program.args, tuple)
    if budget == "keep_all" and not everything:
        everything.append(result.bytes_taken)
    if isinstance(budget, float) and result.bytes_taken > how["budget"]:
        raise AssertionError(f"{result.bytes_taken} bytes taken, budget {how['budget']}")
    return result


def ours(who, form, function, args, unpack):
    start = time.perf_counter()
    compiled = function.compile(*args)
    seconds_compile = time.perf_counter() - start
    function(*args)
    seconds = time.perf_counter() - start
    planned, measured = compiled.plan.bytes_peak, compiled.stats.bytes_peak
    if planned != measured:
        raise AssertionError(f"{planned} bytes planned, {measured} measured")
    plan = str(compiled.plan).replace(str(ROOT) + os.sep, "").strip()
    return Contender(who, lambda: unpack(function(*args)), planned, seconds, seconds_compile, clock=lambda: compiled.stats.seconds, plan=plan, form=form)


def from_python(who, function, args):
    """Python calls what JAX compiled; how many bytes are held at a time nobody says."""
    on_device = jax.block_until_ready([jax.numpy.asarray(x) for x in args])
    start = time.perf_counter()
    jax.block_until_ready(function(*on_device))
    return Contender(who, lambda: jax.block_until_ready(function(*on_device)), None, time.perf_counter() - start)


def with_jax(who, function, args, unpack):
    on_device = jax.block_until_ready([jax.numpy.asarray(x) for x in args])
    start = time.perf_counter()
    # Another function to JAX, so that the first call below compiles, too.
    compiled = jax.jit(lambda *args: function(*args)).lower(*on_device).compile()
    seconds_compile = time.perf_counter() - start
    memory = compiled.memory_analysis()
    jitted = jax.jit(function)
    start = time.perf_counter()
    jax.block_until_ready(jitted(*on_device))
    seconds = time.perf_counter() - start
    taken = None if memory is None else memory.temp_size_in_bytes + memory.output_size_in_bytes
    return Contender(who, lambda: unpack(jax.block_until_ready(jitted(*on_device))), taken, seconds, seconds_compile)


def copies(args):
    return [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]


def made(part, makers, skip):
    """(side, contender) of every maker that gives one; the others say why not. What is in `skip` ended a process before."""
    result = []
    for side, who, make in makers:
        failed = lambda error: say(kind="error", part=part, side=side, who=who, error=error)
        if [part, who] in [entry[:2] for entry in skip]:
            failed(next(entry[2] for entry in skip if entry[:2] == [part, who]))
            continue
        say(kind="at", part=part, who=who)
        try:
            result += [(side, contender) for contender in make()]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the compiler is no Exception
            failed(f"{type(error).__name__}: {error}".splitlines()[0])
    return result


# Agreement


def agreeing(part, contenders, tolerance):
    """The contenders whose results agree with the first: C where there is C, else JAX, else NumPy; a form of ours has the same bits under all budgets and back ends."""
    if not contenders:
        return []
    order = {"c": 0, "jax": 1, "numpy": 2, "ours": 3, "peer": 4}
    contenders.sort(key=lambda pair: order[pair[0]])
    say(kind="at", part=part, who=contenders[0][1].who)
    reference = leaves(contenders[0][1].run())
    good, first_bits = [], {}
    for side, contender in contenders:
        say(kind="at", part=part, who=contender.who)
        found = leaves(contender.run())
        wrong = difference(found, reference, tolerance)
        if side == "ours":
            bits = [x.tobytes() for x in found]
            if first_bits.setdefault(contender.form, bits) != bits:
                wrong = "other bits than under the first budget and back end"
        contender.side = side
        if wrong:
            say(kind="wrong", part=part, side=side, who=contender.who, error=wrong, against=contenders[0][1].who)
        else:
            good.append(contender)
    return good


def leaves(result):
    value, gradients = result
    values = value if isinstance(value, tuple) else (value,)
    return [np.array(x, dtype=float) for x in (*values, *(gradients or ()))]


def difference(found, expected, tolerance):
    """What is wrong, or None."""
    if [x.shape for x in found] != [x.shape for x in expected]:
        return f"shapes {[x.shape for x in found]}, expected {[x.shape for x in expected]}"
    for k, (f, e) in enumerate(zip(found, expected)):
        error = np.max(np.abs(f - e)) / (np.max(np.abs(e)) or 1.0)
        if not error <= tolerance:
            return f"result {k}: relative error {error:.1e}, allowed {tolerance:.0e}"
    return None


def check_slope(program, contender, random):
    """The gradient has the slope along a random direction that NumPy finds by the complex step."""
    say(kind="at", part="gradient", who="the complex step")
    gradients = leaves(contender.run())[1:]
    directions = {k: random.standard_normal(np.shape(program.args[k])) for k in program.argnums}
    step = 1e-30
    # Every float becomes complex, for a program may store into any of its arguments.
    moved = [x + 1j * step * directions.get(k, 0.0) if np.asarray(x).dtype.kind == "f" else np.copy(x) for k, x in enumerate(program.args)]
    slope = np.imag(next(iter(program.forms.values()))(*moved)) / step
    found = sum(np.sum(g * directions[k]) for g, k in zip(gradients, program.argnums))
    scale = sum(np.linalg.norm(g) * np.linalg.norm(directions[k]) for g, k in zip(gradients, program.argnums))
    if not abs(found - slope) <= program.tolerance * scale:
        say(kind="wrong", part="gradient", side="check", who=contender.who, error=f"slope {found}, complex step {slope}", against="the complex step")
    else:
        say(kind="slope", who=contender.who)


# Times


def measure(part, contenders, seconds):
    """Rounds in which each has its turn, until each has had its time. A turn of a short run is many runs; a long one has at least one turn.

    Before many runs comes one that does not count, so that nobody pays for what the one before left in the caches.
    """
    spent, turns = {}, {}
    for contender in contenders:
        say(kind="at", part=part, who=contender.who)
        start = time.perf_counter()
        contender.run()
        turns[contender.who] = max(1, int(0.002 / (time.perf_counter() - start)))
        spent[contender.who] = 0.0
    while waiting := [c for c in contenders if spent[c.who] < seconds or len(c.seconds) < 3 and spent[c.who] < 10 * seconds]:
        for contender in waiting:
            say(kind="at", part=part, who=contender.who)
            inside = 0.0
            if turns[contender.who] > 1:
                contender.run()
            start = time.perf_counter()
            for _ in range(turns[contender.who]):
                contender.run()
                if contender.clock:
                    inside += contender.clock()
            taken = time.perf_counter() - start
            spent[contender.who] += taken
            contender.seconds.append(taken / turns[contender.who])
            contender.seconds_inside.append((inside if contender.clock else taken) / turns[contender.who])


def report(part, contender):
    facts = dict(kind="result", part=part, side=contender.side, who=contender.who, bytes=contender.bytes_taken, plan=contender.plan)
    facts |= dict(first=contender.seconds_first, compile=contender.seconds_compile)
    if contender.seconds:
        facts |= dict(best=min(contender.seconds), inside=min(contender.seconds_inside), median=float(np.median(contender.seconds)), runs=len(contender.seconds))
    say(**facts)


if __name__ == "__main__":
    main()
