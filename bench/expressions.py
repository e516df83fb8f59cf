"""Formulas against SymPy's lambdify, CasADi, JAX and C by hand: derive, compile and evaluate, in one run on one core.

    .venv-bench/bin/python -m pip install sympy casadi jax && .venv-bench/bin/python bench/expressions.py
    bench/expressions.py chain functional       # these cases
    bench/expressions.py --growth               # how our times grow with size

Every contender has a process of its own, a limit of seconds, and must agree with ours to 1e-8. Derive and compile are seconds of CPU, since they
are done once. A run is timed in two ways, each the best of many: a whole call from Python, with arrays or numbers for arguments and results, and
inside of the machine code, on memory that is there.
"""

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import time

import numpy as np

OPERATIONS, POINTS, JOINTS = 2000, 1000, 6
LIMIT = 60  # seconds
POINT = [0.3, 0.5, 0.7, 0.2]


# The three formulas, for whoever has operators and these functions.

def chain(count, sin, tanh, values):
    """Four operations a step over what came shortly before and long before."""
    source, pool = random.Random(1), list(values)
    for k in range(count // 4):
        a, b = pool[source.randrange(max(0, len(pool) - 8), len(pool))], pool[source.randrange(len(pool))]
        pool.append(sin(a) * b + 0.5 * a if k % 2 else tanh(a - b) * 0.9 + b)
    return pool[-1] + sum(pool[-4:-1], start=pool[0])


KAPPA, MU, BETA, GAMMA = 0.804, 0.2195149727645171, 0.06672455060314922, (1 - math.log(2)) / math.pi**2
FIT = (0.0310907, 0.21370, 7.5957, 3.5876, 1.6382, 0.49294)


def functional(n, sigma, log, exp, power):
    """The energy density of PBE without spin (Perdew, Burke and Ernzerhof 1996; Perdew and Wang 1992), by density and squared gradient."""
    a, a1, b1, b2, b3, b4 = FIT
    s2 = sigma / (4 * (3 * math.pi**2) ** (2 / 3)) * power(n, -8 / 3)
    exchange = -0.75 * (3 / math.pi) ** (1 / 3) * power(n, 4 / 3) * (1 + KAPPA - KAPPA / (1 + MU / KAPPA * s2))
    rs = (3 / (4 * math.pi)) ** (1 / 3) * power(n, -1 / 3)
    root = (3 / (4 * math.pi)) ** (1 / 6) * power(n, -1 / 6)
    eps = -2 * a * (1 + a1 * rs) * log(1 + 1 / (2 * a * (b1 * root + b2 * rs + b3 * rs * root + b4 * rs * rs)))
    t2 = sigma * (math.pi / 3) ** (1 / 3) / 16 * power(n, -7 / 3)
    big = BETA / GAMMA / (exp(-eps / GAMMA) - 1)
    h = GAMMA * log(1 + BETA / GAMMA * t2 * (1 + big * t2) / (1 + big * t2 + big * big * t2 * t2))
    return exchange + n * (eps + h)


def robot(q, speed, acceleration, sin, cos):
    """Torques of an arm of six joints by recursive Newton-Euler (Luh, Walker and Paul 1980), in the frames of its links."""
    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    def add(*vectors):
        return [sum(part[1:], start=part[0]) for part in zip(*vectors)]

    def times(matrix, v):
        return [row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in matrix]

    links = []
    w, dw, dv = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 9.81]
    for k in range(JOINTS):
        tilt, along, offset = (math.pi / 2, 0, -math.pi / 2)[k % 3], 0.1 * (k + 1), 0.05 * k
        s, c, st, ct = sin(q[k]), cos(q[k]), math.sin(tilt), math.cos(tilt)
        back = [[c, s, 0.0], [-s * ct, c * ct, st], [s * st, -c * st, ct]]  # into the frame of the link
        p, centre = [along, offset * st, offset * ct], [-along / 2, 0.02, 0.03 * (k + 1)]
        turned = [w[0], w[1], w[2] + speed[k]]
        turning = add(dw, cross(w, [0.0, 0.0, speed[k]]), [0.0, 0.0, acceleration[k]])
        w, dw = times(back, turned), times(back, turning)
        dv = add(times(back, dv), cross(dw, p), cross(w, cross(w, p)))
        force = [(2.0 - 0.2 * k) * part for part in add(dv, cross(dw, centre), cross(w, cross(w, centre)))]
        inertia = [0.02 + 0.001 * k, 0.03, 0.015]
        moment = add([i * x for i, x in zip(inertia, dw)], cross(w, [i * x for i, x in zip(inertia, w)]))
        links.append((back, p, centre, force, moment))
    f, n, torques = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [None] * JOINTS
    for k in reversed(range(JOINTS)):
        back, p, centre, force, moment = links[k]
        n = add(n, cross(p, f), cross([a + b for a, b in zip(p, centre)], force), moment)
        f = add(f, force)
        out = [[back[j][i] for j in range(3)] for i in range(3)]
        f, n = times(out, f), times(out, n)
        torques[k] = n[2]
    return torques


STATE = np.linspace(0.1, 1.3, 2 * JOINTS)
PUSH = np.linspace(-0.5, 0.5, JOINTS)
DENSITY = np.linspace(0.05, 2.0, POINTS)
SIGMA = np.linspace(0.01, 0.5, POINTS)


# Contenders: derive gives what compile takes, compile gives what is run. Results are arrays in one order.

def by_retrograd(case, backend="cranelift"):
    import retrograd as rg

    def compiled(expr, *at):
        return rg.jit(expr, backend=backend, threads=1).compile(*at)

    def evaluate(*at):
        def inside(run, calls=4000):
            def seconds():
                run(*at)
                return run.stats.seconds

            return min(seconds() for _ in range(calls))

        return lambda run: (lambda: run(*at), lambda: inside(run))

    if case == "chain":
        names = ["x", "y", "z", "w"]
        f = chain(OPERATIONS, np.sin, np.tanh, rg.symbols(names))
        return lambda: f.gradient(*names), lambda parts: compiled(np.stack(parts).of(*names), *POINT), evaluate(*POINT)
    if case == "functional":
        n, sigma = rg.symbols("n sigma")
        f = functional(n, sigma, np.log, np.exp, lambda x, p: x**p)
        # Taylor arithmetic gives a fourth derivative that is far smaller than four derivatives of each other.
        derive = lambda: 24 * f.series("n", n, 4)[4]
        return derive, lambda part: compiled(part.of("n", "sigma"), DENSITY, SIGMA), evaluate(DENSITY, SIGMA)
    x, a = rg.symbols("x a")
    torques = np.stack(robot(*[rg.symbols([f"{letter}{k}" for k in range(JOINTS)]) for letter in "qva"], np.sin, np.cos))
    by = [f"{letter}{k}" for letter in "qv" for k in range(JOINTS)]
    place = {**{f"q{k}": x[k] for k in range(JOINTS)}, **{f"v{k}": x[JOINTS + k] for k in range(JOINTS)}, **{f"a{k}": a[k] for k in range(JOINTS)}}
    return lambda: torques.jacobian(*by), lambda jacobian: compiled(jacobian.substitute(**place).of("x", "a"), STATE, PUSH), evaluate(STATE, PUSH)


def by_sympy(case):
    import sympy

    if case == "chain":
        symbols = sympy.symbols("x y z w")
        f = chain(OPERATIONS, sympy.sin, sympy.tanh, symbols)
        return (lambda: [f.diff(symbol) for symbol in symbols]), lambda parts: sympy.lambdify(symbols, parts, modules="math", cse=True), lambda run: (lambda: run(*POINT), None)
    if case == "functional":
        n, sigma = sympy.symbols("n sigma", positive=True)
        f = functional(n, sigma, sympy.log, sympy.exp, lambda x, p: x**p)
        return (lambda: f.diff(n, 4)), lambda part: sympy.lambdify((n, sigma), part, modules="numpy", cse=True), lambda run: (lambda: run(DENSITY, SIGMA), None)
    q, v, a = (sympy.symbols([f"{letter}{k}" for k in range(JOINTS)]) for letter in "qva")
    torques = robot(q, v, a, sympy.sin, sympy.cos)
    at = [*STATE, *PUSH]
    derive = lambda: [[torque.diff(by) for by in (*q, *v)] for torque in torques]
    return derive, lambda parts: sympy.lambdify([*q, *v, *a], parts, modules="math", cse=True), lambda run: (lambda: run(*at), None)


def by_casadi(case, machine_code=False):
    import casadi

    def runs(function, *given):
        """A call with NumPy's arrays; a run over memory that is there: of C a loop in C, else of CasADi's buffers."""
        buffer, evaluate = function.buffer()
        ready = [np.array(array, dtype=float).ravel(order="F") for array in given]
        taken = np.zeros(math.prod(function.size_out(0)))
        for k, array in enumerate(ready):
            buffer.set_arg(k, memoryview(array))
        buffer.set_res(0, memoryview(taken))
        given = [np.array(array, dtype=float) for array in given]
        call = lambda: np.array(function(*given))
        in_a_loop = machine_code and not function.name().startswith("map")

        def inside():  # what the buffer points to must live
            return in_c(function.name(), ready, taken) if in_a_loop else (best(evaluate), buffer, ready, taken)[0]

        return call, inside

    def made(name, inputs, outputs):
        function = casadi.Function(name, inputs, outputs)
        if not machine_code:
            return function
        function.generate(f"{name}.c")
        subprocess.run(["gcc", "-O2", "-march=native", "-shared", "-fPIC", f"{name}.c", "-o", f"./{name}.so"], check=True)
        return casadi.external(name, f"./{name}.so")

    if case == "chain":
        x = casadi.SX.sym("x", 4)
        f = chain(OPERATIONS, casadi.sin, casadi.tanh, [x[k] for k in range(4)])
        return (lambda: casadi.gradient(f, x)), lambda g: made("chain_g", [x], [g]), lambda run: runs(run, POINT)
    if case == "functional":
        n, sigma = casadi.SX.sym("n"), casadi.SX.sym("sigma")
        f = functional(n, sigma, casadi.log, casadi.exp, lambda x, p: x**p)

        def derive():
            d = f
            for _ in range(4):
                d = casadi.jacobian(d, n)
            return d

        return derive, lambda d: made("functional_d", [n, sigma], [d]).map(POINTS), lambda run: runs(run, DENSITY[None], SIGMA[None])
    x, a = casadi.SX.sym("x", 2 * JOINTS), casadi.SX.sym("a", JOINTS)
    torques = robot([x[k] for k in range(JOINTS)], [x[JOINTS + k] for k in range(JOINTS)], [a[k] for k in range(JOINTS)], casadi.sin, casadi.cos)
    stacked = casadi.vertcat(*torques)
    return (lambda: casadi.densify(casadi.jacobian(stacked, x))), lambda j: made("robot_j", [x, a], [j]), lambda run: runs(run, STATE, PUSH)


def by_jax(case):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    compile = lambda lowered: lowered.compile()
    if case == "chain":
        g = jax.jit(jax.grad(lambda *values: chain(OPERATIONS, jnp.sin, jnp.tanh, values), argnums=(0, 1, 2, 3)))
        return (lambda: g.lower(*POINT)), compile, lambda run: (lambda: jax.block_until_ready(run(*POINT)), None)
    if case == "functional":
        f = lambda n, sigma: functional(n, sigma, jnp.log, jnp.exp, lambda x, p: x**p)
        for _ in range(4):
            f = jax.grad(f)
        g, at = jax.jit(jax.vmap(f)), (jnp.array(DENSITY), jnp.array(SIGMA))
        return (lambda: g.lower(*at)), compile, lambda run: (lambda: jax.block_until_ready(run(*at)), None)
    f = lambda x, a: jnp.stack(robot(x[:JOINTS], x[JOINTS:], a, jnp.sin, jnp.cos))
    g, at = jax.jit(jax.jacfwd(f)), (jnp.array(STATE), jnp.array(PUSH))
    return (lambda: g.lower(*at)), compile, lambda run: (lambda: jax.block_until_ready(run(*at)), None)


def in_c(name, given, taken):
    """Seconds of the best of many runs of a function that CasADi wrote and gcc compiled, called from C."""
    import ctypes

    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expressions.c")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-DTIMER", source, "-o", "./timer.so"], check=True)
    library, timed = ctypes.CDLL(f"./{name}.so"), ctypes.CDLL("./timer.so").timed
    sizes = (ctypes.c_longlong * 4)()
    getattr(library, f"{name}_work")(*[ctypes.byref(sizes, 8 * k) for k in range(4)])
    integers, floats = np.zeros(sizes[2] + 1, dtype=np.int64), np.zeros(sizes[3] + 1)
    pointers = lambda arrays, count: (ctypes.c_void_p * (count + len(arrays)))(*[array.ctypes.data for array in arrays])
    timed.restype = ctypes.c_double
    return timed(getattr(library, name), pointers(given, sizes[0]), pointers([taken], sizes[1]), ctypes.c_void_p(integers.ctypes.data), ctypes.c_void_p(floats.ctypes.data))


def by_c(case):
    """The derivative is the author's work; what is timed is gcc and the run, inside of C."""
    import ctypes

    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expressions.c")
    tables = "\n".join(f"{{{k}, {a}, {b}}}," for k, a, b in chain_places())
    with open("chain.h", "w") as header:
        header.write(tables)

    def compile(_):
        subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-I.", f"-DSTEPS={OPERATIONS // 4}", source, "-o", "./by_hand.so", "-lm"], check=True)
        return ctypes.CDLL("./by_hand.so")

    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    given, result = {
        "chain": ([np.array(POINT)], np.zeros(4)),
        "functional": ([DENSITY, SIGMA], np.zeros(POINTS)),
        "robot": ([STATE, PUSH], np.zeros((JOINTS, 2 * JOINTS))),
    }[case]

    def evaluate(library):
        function = getattr(library, case)
        function.restype = ctypes.c_double  # seconds of the best of many runs
        seconds = lambda: function(*map(pointer, given), pointer(result))

        def call():
            seconds()
            return result

        return call, lambda: min(seconds() for _ in range(3))

    return lambda: None, compile, evaluate


def chain_places():
    """Which results the steps of the chain read."""
    source, places, length = random.Random(1), [], 4
    for k in range(OPERATIONS // 4):
        places.append((k % 2, source.randrange(max(0, length - 8), length), source.randrange(length)))
        length += 1
    return places


CONTENDERS = {
    "Retrograd": by_retrograd,
    "Retrograd, LLVM": lambda case: by_retrograd(case, "llvm"),
    "C by hand, gcc -O3": by_c,
    "CasADi": by_casadi,
    "CasADi, gcc -O2": lambda case: by_casadi(case, machine_code=True),
    "JAX": by_jax,
    "SymPy lambdify(cse=True)": by_sympy,
}
CASES = {
    "chain": f"gradient of {OPERATIONS} operations by 4 variables",
    "functional": f"4th derivative by the density of PBE's energy at {POINTS} points",
    "robot": f"Jacobian of the torques of {JOINTS} joints by angles and speeds",
}


def best(run, seconds=0.6):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def work():
    """Seconds of CPU of this process, its threads and who it waited for, such as gcc: what else runs on the machine does not count."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def one(case, name):
    """One contender at one case, in this process: seconds of CPU to derive and to compile, the best time of a run, and the result."""
    derive, compile, runner = CONTENDERS[name](case)
    begin = work()
    derived = derive()
    middle = work()
    made = compile(derived)
    end = work()
    call, inside = runner(made)
    value = call()
    # C by hand has no call from Python of its own.
    seconds = None if name.startswith("C by") else best(call)
    inside = inside and inside()
    flat = np.concatenate([np.asarray(part, dtype=float).ravel() for part in value]) if isinstance(value, (list, tuple)) else np.asarray(value, dtype=float)
    flat = flat.ravel()  # row by row, whatever the layout
    print(json.dumps({"derive": middle - begin, "compile": end - middle, "call": seconds, "inside": inside, "value": flat.tolist()}))


def table(cases):
    for case in cases:
        print(f"\n{CASES[case]}\n\n| | derive | compile | call from Python | inside |\n|---|---|---|---|---|")
        reference = None
        for name in CONTENDERS:
            try:
                done = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", case, name], capture_output=True, text=True, timeout=LIMIT, cwd=SCRATCH)
            except subprocess.TimeoutExpired:
                print(f"| {name} | no result within {LIMIT:g} s | | | |", flush=True)
                continue
            if done.returncode:
                print(f"| {name} | fails: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode} | | | |", flush=True)
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            reference = reference or found["value"]
            wrong = not np.allclose(found["value"], reference, rtol=1e-8, atol=1e-8 * np.max(np.abs(reference)))
            derive = "by hand" if name.startswith("C by") else f"{1e3 * found['derive']:.1f} ms"
            times = " | ".join("" if found[way] is None else f"{1e6 * found[way]:.2f} µs" for way in ("call", "inside"))
            print(f"| {name} | {derive} | {1e3 * found['compile']:.1f} ms | {times} |{' WRONG' if wrong else ''}", flush=True)


def growth():
    import retrograd as rg

    print("\n| operations | symbolic gradient | trace, derive and compile the gradient | both, to half the size |\n|---|---|---|---|")
    before = None
    for count in (25_000, 50_000, 100_000, 200_000):
        names = ["x", "y", "z", "w"]
        f = chain(count, np.sin, np.tanh, rg.symbols(names)).of(*names)
        begin = work()
        parts = f.gradient(*names)
        symbolic, begin = work() - begin, work()
        rg.grad(f, argnums=(0, 1, 2, 3)).compile(*POINT)
        compiled = work() - begin
        ratio = "" if before is None else f"{(symbolic + compiled) / before:.2f}"
        print(f"| {count} | {symbolic:.3f} s | {compiled:.2f} s | {ratio} |", flush=True)
        before = symbolic + compiled
        del parts


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--one", nargs=2, metavar=("CASE", "NAME"))
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that a contender has")
    parser.add_argument("--growth", action="store_true")
    given = parser.parse_args()
    LIMIT = given.limit
    if given.one:
        one(*given.one)
    elif given.growth:
        growth()
    else:
        import tempfile

        with tempfile.TemporaryDirectory() as SCRATCH:
            table(given.cases)
