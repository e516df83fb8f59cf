"""What the first call takes, and what every call takes: ours against JAX's, each in a process of its own.

    .venv-bench/bin/python bench/first_calls.py              # the programs of python/tests/programs whose source JAX runs as it is
    .venv-bench/bin/python bench/first_calls.py calls        # a call, ten guards, a new grad, the import
    .venv-bench/bin/python bench/first_calls.py tracing      # nests of loops, and steps over particles

A first call is from `value_and_grad(f)` to its result, imports excluded, in seconds of the processor, so that it means something on a machine that others use, too; the
fastest of three processes. JAX has the same source with `jax.numpy` as `np`, jitted, and
knows all arguments but those that it differentiates by.
"""

import os
import subprocess
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(os.path.dirname(HERE), "python", "tests")
PROCESSES = 3


def first(who, name):
    """Seconds of the first call in this process."""
    sys.path.insert(0, TESTS)
    import corpus
    import numpy as np

    module = corpus.load(name)
    if who == "jax":
        import jax

        _, args, wrt = module.example()
        f = corpus.in_jax(module)
        by = (wrt,) if isinstance(wrt, int) else tuple(wrt)

        def of_chosen(*chosen):
            """The rest of the arguments is known while JAX traces, as strings and lists of places must be."""
            given = dict(zip(by, chosen))
            return f(*(given.get(k, arg) for k, arg in enumerate(args)))

        jax.jit(jax.numpy.sum)(jax.numpy.zeros(3)).block_until_ready()
        begin = time.process_time()
        jax.block_until_ready(jax.jit(jax.value_and_grad(of_chosen, argnums=tuple(range(len(by)))))(*(args[k] for k in by)))
    else:
        import retrograd as rg

        rg.grad(np.sum)(np.ones(2))
        f, args, wrt = module.example()
        begin = time.process_time()
        rg.value_and_grad(f, argnums=wrt)(*args)
    return time.process_time() - begin


def measured(who, name):
    """The fastest of some processes; None where the program does not run."""
    found = []
    for _ in range(PROCESSES):
        done = subprocess.run([sys.executable, __file__, "--one", who, name], capture_output=True, text=True)
        if done.returncode:
            return None
        found.append(float(done.stdout.split()[-1]))
    return min(found)


def firsts(names):
    print("| program | retrograd | JAX | ratio |\n|---|---|---|---|")
    ratios = []
    for name in names:
        ours, jax = measured("retrograd", name), measured("jax", name)
        if ours is None or jax is None:
            print(f"| {name} | {'refused' if ours is None else f'{1e3 * ours:.0f} ms'} | {'refused' if jax is None else f'{1e3 * jax:.0f} ms'} | |")
            continue
        ratios.append(jax / ours)
        print(f"| {name} | {1e3 * ours:.0f} ms | {1e3 * jax:.0f} ms | {jax / ours:.1f} |", flush=True)
    print(f"\nJAX takes {min(ratios):.1f} to {max(ratios):.1f} times as long, {sorted(ratios)[len(ratios) // 2]:.1f} in the middle.")


def each(call, seconds=0.5):
    """Microseconds of a call, the fastest of many turns."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(200):
            call()
        best = min(best, (time.perf_counter() - begin) / 200)
    return 1e6 * best


def calls():
    import numpy as np
    import retrograd as rg

    x = np.ones(3)
    plain = rg.grad(lambda x: np.sum(x * x))
    scope = {"np": np, **{f"k{n}": float(n + 1) for n in range(10)}}
    exec("def guarded(x):\n    return np.sum(x * (" + " + ".join(f"k{n}" for n in range(10)) + "))", scope)
    guarded = rg.grad(scope["guarded"])
    plain(x), guarded(x)
    bare, with_guards = each(lambda: plain(x)), each(lambda: guarded(x))
    print(f"a call: {bare:.2f} µs; with ten numbers from outside: {with_guards:.2f} µs")

    def again():
        rg.grad(scope["guarded"])(x)

    print(f"a new rg.grad of a function that was compiled, and its call: {each(again):.1f} µs")
    code = "import time, numpy; b = time.process_time(); import retrograd; print(time.process_time() - b)"
    imports = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(7)]
    print(f"import retrograd, beyond NumPy: {1e3 * min(imports):.0f} ms")


TRACED = ("saddle", "material_points", "smoothed_particles", "molecular_dynamics")


def stages(name):
    """Seconds of a first compilation in this process, and of another trace; how often a body is traced."""
    sys.path.insert(0, TESTS)
    import numpy as np
    import retrograd as rg

    rg.grad(np.sum)(np.ones(2))
    if name == "saddle":
        from saddle import saddle

        transformed, args = rg.jit(saddle), (np.ones(2),)
    else:
        import corpus

        f, args, wrt = corpus.load(name).example()
        transformed = rg.value_and_grad(f, argnums=wrt)
    begin = time.process_time()
    transformed.compile(*args)
    whole = time.process_time() - begin
    begin = time.process_time()
    outcome = transformed._outcome(transformed.signature().bind(args, {}))
    return whole, time.process_time() - begin, max(outcome.bodies_traced.values())


def tracing():
    """First compilations, and other traces, of code that was rewritten before."""
    print("| program | first compilation | another trace | a body is traced at most |\n|---|---|---|---|")
    for name in TRACED:
        found = []
        for _ in range(2 * PROCESSES + 1):
            call = [sys.executable, __file__, "--stages", name]
            done = subprocess.run(call, capture_output=True, text=True, check=True)
            found.append([float(word) for word in done.stdout.split()[-3:]])
        whole, trace, most = (min(column) for column in zip(*found))
        print(f"| {name} | {1e3 * whole:.0f} ms | {1e3 * trace:.0f} ms | {most:.0f} times |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(first(*sys.argv[2:]))
    elif sys.argv[1:2] == ["--stages"]:
        print(*stages(*sys.argv[2:]))
    elif sys.argv[1:] == ["tracing"]:
        tracing()
    elif sys.argv[1:] == ["calls"]:
        calls()
    else:
        sys.path.insert(0, TESTS)
        from test_corpus import IN_JAX

        firsts(sys.argv[1:] or sorted(IN_JAX))
