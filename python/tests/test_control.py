"""Control flow and state: early returns, expressions with conditions, loops of all kinds, containers and objects that change; against plain Python."""

import functools
import math
import operator
from collections import namedtuple

import numpy as np
import pytest
from oracle import close, collector, copies

import retrograd as rg

rng = np.random.default_rng(11)
v = rng.normal(size=6)
A = rng.normal(size=(4, 6))
CASES, case = collector()  # The value is plain Python's, the gradient of a float that of finite differences.


def differences(f, args, h=1e-6):
    x = np.array(args[0], float)
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[index] = h
        low, high = [x - e, x + e] if np.ndim(args[0]) else [float(x - e), float(x + e)]
        gradient[index] = (f(high, *copies(args[1:])) - f(low, *copies(args[1:]))) / (2 * h)
    return gradient


@pytest.mark.parametrize("f, args", CASES)
def test_is_pythons(f, args):
    expected = f(*copies(args))
    found = rg.jit(f)(*copies(args))
    if not isinstance(expected, (tuple, list)):
        found, expected = [found], [expected]
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        close(a, b)
    if len(expected) == 1 and np.shape(expected[0]) == () and np.asarray(args[0]).dtype == np.float64 and isinstance(expected[0], float):
        close(rg.grad(f)(*copies(args)), differences(f, args), 1e-5)


# Early returns


@case(v)
@case(-v)
@case(0.01 * v)
def piecewise(x):
    s = np.sum(x)
    if s > 1.0:
        return s * s
    if s > 0.0:
        y = s * 2.0
        return y + x[0]
    elif s < -3.0:
        return -s
    z = np.sum(x * x)
    return z


@case(v)
@case(3.0 * v)
def return_in_loop(x):
    s = 0.0
    for i in range(6):
        s = s + x[i] * x[i]
        if s > 1.0:
            return s * i
    return s


@case(v)
def return_in_while(x):
    k = 0
    while True:
        x = x * 0.5
        k += 1
        if np.sum(x * x) < 0.01:
            return np.sum(x) * k


@case(v)
def return_in_nested_loops(x):
    for i in range(3):
        for j in range(2):
            if x[i] * x[j] > 0.3:
                return x[i] + 10.0 * x[j]
        x = x * 1.1
    return np.sum(x)


@case(v)
@case(-v)
def return_deep(x):
    if x[0] > 0.0:
        if x[1] > 0.0:
            return x[2]
        x = x * 2.0
    return np.sum(x)


@case(v)
def returns_tuples(x):
    if x[0] > 0:
        return x[0], x[1:]
    return x[1], x[1:] * 2.0


def helper(x, k):
    if x > 0.1:
        return x * k
    return -x


@case(v)
def returns_of_helpers(x):
    s = 0.0
    for i in range(6):
        s += helper(x[i], i + 1)
    return s


# Expressions


@case(v)
def ternaries(x):
    a = x[0] if x[1] > 0 else x[2]
    b = 1 if x[3] > 0 else 2.5
    return a * b + (x[4] if x[0] > x[1] else (x[5] if x[2] > 0 else 0.0))


@case(v)
def connectives(x):
    p = x[0] > 0 and x[1] > 0
    q = x[0] > 0 or x[1] > 0
    r = not p
    t = x[0] and x[1]
    u = 0.0 or x[2]
    return 1.0 * p + 2.0 * q + 3.0 * r + t * u


@case(v)
def chained(x):
    s = 0.0
    for i in range(6):
        if -0.5 < x[i] < 0.8:
            s = s + x[i]
    return s + (1.0 if 0 < x[0] < 1 < x[1] + 3 else 2.0)


@case(v)
def builtins_of_numbers(x):
    a, b, c = x[0], x[1], x[2]
    return min(a, b, c) + 2.0 * max(a, b) + abs(c) + sum([a, b, c]) + pow(a, 2) + max([a, c]) + sum(x[k] for k in range(3)) + min(a, 0.1)


@case(0.7)
def mathematics(x):
    y = math.sin(x) + math.exp(x) * math.sqrt(x) + math.log(x) + math.log(x, 2) + math.atan2(x, 2.0) + math.hypot(x, 3.0) + math.pi * x
    return y + math.fabs(-x) + math.tanh(x) + math.pow(x, 3.0) + math.floor(x + 2.0) + math.ceil(x) + float(x) + operator.mul(x, x) + math.erf(x)


@case(v)
def any_and_all(x):
    p = any(x[i] > 0.5 for i in range(6))
    q = all([x[i] > -9.0 for i in range(6)])
    return x[0] * (2.0 if p else 3.0) + (1.0 if q else 5.0)


@case(v)
def sorts(x):
    a = sorted([x[0], x[1], x[2]])
    return a[0] + 2.0 * a[1] + 3.0 * a[2]


@case(2.6)
def divides(x):
    q, r = divmod(x, 0.7)
    return q + r + x // 0.3 + x % 0.4 + round(x) * x


@case(v)
def converts(x):
    return float(x[0]) * 2.0 + int(x[1] * 10.0) * x[2] + bool(x[3]) * x[4]


# Loops


@case(A)
def over_rows(a):
    s = 0.0
    for row in a:
        s = s * 0.5 + np.sum(row * row)
    return s


@case(v)
def over_elements(x):
    s = 0.0
    for e in x:
        s = np.sin(s) + e
    for k, e in enumerate(x):
        s = s + k * e * e
    for k, e in enumerate(x, 3):
        s = s + k * e
    return s


@case(v)
def over_zips(x):
    s = 0.0
    for a, b in zip(x, x[1:]):
        s = s + a * b
    for i, (a, b) in enumerate(zip(x[:3], x[3:])):
        s = s * a + b * i
    for e in reversed(x):
        s = 0.5 * s + e
    for i, e in zip(range(3), x):
        s += i * e
    return s


@case(v)
def over_arange(x):
    s = 0.0
    for k in np.arange(5):
        s = s * 0.5 + x[k] * k
    for t in np.linspace(0.0, 1.0, 4):
        s = s + np.sin(t * x[0])
    return s


@case(v)
def over_length(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


@case(v)
def writes_rows(x):
    a = np.zeros((3, 6))
    for i, row in enumerate(a):
        row[:] = x * i
        a[i, 0] += 1.0
    return np.sum(a * a)


@case(v)
def loop_else(x):
    for i in range(6):
        if x[i] > 100.0:
            y = 1.0
            break
    else:
        y = 2.0
    while x[0] < 50.0:
        x = x * 2.0 + 1.0
    else:
        y = y + 1.0
    return y * x[1]


@case(v)
def loop_else_broken(x):
    s = 0.0
    for i in range(6):
        s = s + x[i] * x[i]
        if s > 0.5:
            break
    else:
        s = s + 100.0
    return s


@case(v)
def first_bound_in_loop(x):
    for i in range(6):
        if i == 0:
            previous = x[0]
        else:
            previous = 0.5 * previous + x[i]
    return previous


@case(v)
def none_at_first(x):
    previous = None
    s = 0.0
    for i in range(6):
        if previous is not None:
            s = s + previous * x[i]
        previous = x[i]
    return s


@case(v)
def number_becomes_array(x):
    s = 0.0
    for i in range(5):
        s = s + x * i
    return np.sum(s * s)


@case(v)
def counted_while(x):
    t, dt, n = 0.0, 0.01, 0
    y = x
    while t < 1.0:
        y = y + dt * np.sin(y)
        t += dt
        n += 1
    return np.sum(y) * t + n


@case(v)
def counted_while_with_index(x):
    k, s = 0, 0.0
    weights = [1.0, 2.0, 3.0]
    while k < 3:
        s = s + weights[k] * x[k]
        k += 1
    return s


@case(v)
def needs_its_index(x):
    layers = [lambda y: y * 2.0, np.sin, lambda y: y + 1.0]
    params = {f"w{i}": 0.5 + i for i in range(3)}
    for i in range(3):
        x = layers[i](x) * params[f"w{i}"]
    return np.sum(x)


@case(v)
def nested_index(x):
    table = [[1.0, 2.0], [3.0, 4.0]]
    s = 0.0
    for i in range(2):
        for j in range(2):
            s = s + table[i][j] * x[i + j]
    return s


@case(v)
def match_values(x):
    s = 0.0
    for i in range(4):
        match i % 3:
            case 0:
                s = s + x[i]
            case 1 | 2:
                s = s * x[i]
    match "sum":
        case "sum":
            return s + np.sum(x)
        case _:
            return s


@case(v)
def walrus(x):
    if (y := np.sum(x)) > 0:
        return y * 2.0
    return -y


@case(v)
def with_errstate(x):
    s = 0.0
    for i in range(6):
        with np.errstate(all="ignore"):
            s = s + x[i] * x[i]
            if s > 1.0:
                break
    return s


@case(v)
def with_random_numbers(x):
    r = np.random.default_rng(3)
    noise = r.normal(size=6)
    s = np.sum(x * noise)
    for i in range(4):
        s = s + x[i] * r.normal()
    return s


# Containers and objects


@case(v)
def grows(x):
    rows = []
    for i in range(5):
        rows.append(x[i] * x)
    return np.sum(np.array(rows)) + rows[2][1]


@case(v)
def history(x):
    xs = [x]
    for i in range(4):
        xs.append(np.sin(xs[-1]))
    return np.sum(np.stack(xs))


@case(v)
def pops_and_inserts(x):
    stack = [x[0], x[1], x[2]]
    s = 0.0
    for i in range(3):
        s = s * 0.5 + stack.pop()
        stack.insert(0, x[i] * s)
    return s + stack[0]


@case(v)
def list_state(x):
    state = [x[0], 0.0]
    for i in range(6):
        state[0] = state[0] * 0.9 + x[i]
        state[1] += state[0]
    return state[0] * state[1]


@case(v)
def dict_state(x):
    d = {"p": x, "q": 0.0 * x}
    for i in range(4):
        d["p"] = d["p"] + 0.1 * d["q"]
        d["q"] -= 0.1 * d["p"]
    return np.sum(d["p"] * d["q"])


class Body:
    def __init__(self, position, velocity):
        self.position, self.velocity = position, velocity
        self.steps = 0

    def step(self, h):
        self.velocity = self.velocity - h * self.position
        self.position = self.position + h * self.velocity
        self.steps += 1

    @property
    def energy(self):
        total = 0.0
        for k in range(3):
            total = total + self.position[k] ** 2 + self.velocity[k] ** 2
        return total


@case(v)
def object_state(x):
    body = Body(x[:3], x[3:])
    for i in range(10):
        body.step(0.1)
    return body.energy * body.steps


@case(v)
def object_in_branch(x):
    body = Body(x[:3], x[3:])
    if x[0] > 0:
        body.step(0.1)
    else:
        body.velocity = body.velocity * 2.0
        body.steps = 5
    return body.energy + body.steps


@case(v)
def nonlocal_state(x):
    count, total = 0, 0.0

    def tick(y):
        nonlocal count, total
        count += 1
        total = total + y * count

    for i in range(4):
        tick(x[i])
    return total * count


@case(v)
def helper_state(x):
    c = [0]

    def tick():
        c[0] += 1
        return c[0]

    s = 0.0
    for i in range(4):
        s = s + x[i] * tick()
    return s


Pair = namedtuple("Pair", "a b")


@case(v)
def tuples(x):
    p = Pair(x[0], x[1])
    for i in range(4):
        p = Pair(p.b, p.a * 0.5 + x[i])
    return p.a * p.b


@case(v)
def lists_of_numbers(x):
    y = np.array([x[0], x[1] * 2.0])
    z = np.zeros(2)
    z[:] = [x[2], 1.0]
    return y @ z + np.sum(np.stack([x[:2], y]))


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        s = Vector(0.0, 0.0)
        for i in range(3):
            s = Vector(s.x + self.x * k / 3.0, s.y + self.y * k / 3.0)
        return s

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)


@case(v)
def operators(x):
    a = Vector(x[0], x[1])
    for i in range(3):
        a = a + Vector(x[2], x[3]) * 0.5
    return a.norm() + a[1]


@case(v)
def reads_before_it_adds(x):
    table = {"p": x[0]}

    def bump(a):
        table["p"] = table["p"] * 0.5 + a
        return a

    table["p"] += bump(x[1])
    for i in range(3):
        table["p"] *= bump(x[i])
    return table["p"]


@case(v)
def comprehensions_have_names_of_their_own(x):
    weights = [1.0 / 3.0] * 3
    for k in range(2):
        s = sum([weights[i] * x[i] for i in range(3)])
        for i in range(3):
            weights[i] = s * x[i]
    return weights[0] + weights[2] * i


@case(v)
def a_loop_in_a_branch_of_a_loop(x):
    state, y = [x[0], 0.0], x * 0.5
    for i in range(3):
        if x[i] > 0:
            state[0] = state[0] + 1.0
        else:
            for e in y[::-1]:
                state[1] = state[1] + e
                x[i] = e
                y[0] += 0.1
    return np.sum(x) + np.sum(y) + state[0] * state[1]


# Callables


class Model:
    def __init__(self, w):
        self.w = w
        self.__scale = 2.0

    def __call__(self, x):
        for k in range(3):
            x = np.tanh(self.w * x)
        return np.sum(x) * self.__scale


def power_sum(x, p, scale=1.0):
    for i in range(5):
        x = 0.5 * x + 0.1 * x**p
    return scale * np.sum(x)


def recursive(x, depth):
    if depth == 0:
        return np.sum(x)
    return recursive(np.sin(x), depth - 1) + np.sum(x * x)


def wrapped(f):
    @functools.wraps(f)
    def power_sum(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return power_sum


CALLABLES = {
    "lambda": lambda x: np.sum(np.sin(x) * x),
    "two_lambdas_in_a_line": [lambda x: np.sum(x), lambda x: np.sum(x * x)][1],
    "partial": functools.partial(power_sum, p=2, scale=3.0),
    "object": Model(0.7),
    "method": Model(0.3).__call__,
    "recursion": lambda x: recursive(x, 4),
    "wrapped": wrapped(functools.partial(power_sum, p=3)),
    "ufunc of numpy": np.sum,
    "map": lambda x: sum(map(lambda e: e * e, [x[0], x[1]])),
    "reduce": lambda x: functools.reduce(lambda a, b: a * b, [x[0], x[1], x[2]]),
    "cached": lambda x: np.sum(x * cached(3)),
}


@functools.lru_cache
def cached(n):
    return float(n) ** 2


@pytest.mark.parametrize("name", CALLABLES)
def test_every_callable(name):
    f = CALLABLES[name]
    value, gradient = rg.value_and_grad(f)(v)
    close(value, f(v))
    close(gradient, differences(f, (v,)), 1e-5)


def test_a_loop_through_a_partial_is_a_loop():
    program = str(rg.jit(functools.partial(power_sum, p=2)).compile(v).program)
    assert "for %" in program
    assert "for %" in str(rg.jit(Model(0.7)).compile(v).program)


def test_code_without_source_is_traced_as_it_runs():
    scope = {"np": np}
    exec("def f(x):\n    for i in range(3):\n        x = np.sin(x)\n    return np.sum(x)\ndef g(x):\n    return x[0] if x[0] > 0 else x[1]", scope)
    close(rg.grad(scope["f"])(v), differences(scope["f"], (v,)), 1e-5)
    with pytest.raises(rg.Unsupported, match="truth"):
        rg.grad(scope["g"])(v)


def test_source_that_is_not_what_runs_is_not_read(tmp_path):
    file = tmp_path / "edited.py"
    file.write_text("import numpy as np\ndef f(x):\n    return np.sum(x) * 3.0\n")
    scope = {}
    exec(compile("import numpy as np\ndef f(x):\n    return np.sum(x) * 2.0\n", str(file), "exec"), scope)
    close(rg.grad(scope["f"])(v), np.full(6, 2.0))


def test_python_minus_c(tmp_path):
    import subprocess
    import sys

    text = "import numpy as np, retrograd as rg\ndef f(x):\n    for i in range(3):\n        if x[0] > 0:\n            x = x * 2.0\n    return np.sum(x)\nprint(rg.grad(f)(np.ones(2)))"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert found.stdout.strip() == "[8. 8.]", found.stderr


# Integers on demand


def shaped(x, n):
    return np.sum(np.ones(n) * x[0]) + n * x[1]


def test_an_integer_becomes_static_where_it_is_needed():
    g = rg.value_and_grad(shaped)
    for n in (2, 5, 2):
        value, gradient = g(v, n)
        close(value, shaped(v, n))
        close(gradient, differences(shaped, (v, n)), 1e-5)


def test_compilations_for_values_are_bounded():
    g = rg.jit(shaped)
    with pytest.warns(UserWarning, match="more than 64 values of `n`"):
        for n in range(1, 67):
            g(v, n)


@pytest.mark.parametrize("flag", [True, False])
def test_a_bool_is_static(flag):
    def f(x, flag):
        return np.sum(x) if flag else (np.sum(x), 1.0)[0] * 2.0

    close(rg.jit(f)(v, flag), f(v, flag))


# How often bodies are traced


def depths(x):
    s = 0
    for i in range(3):
        t = 0
        for j in range(3):
            for k in range(3):
                if x[k] > 0:
                    s = s + x[i] * x[j]
                    if x[j] > 0:
                        t += x[k]
                x[k] += 0.1
                while s > 10.0:
                    s = s * 0.5
        s = s + t
    return s + np.sum(x)


def test_no_body_is_traced_more_than_three_times():
    close(rg.jit(depths)(v.copy()), depths(v.copy()))
    outcome = rg.jit(depths).compile(v).outcome
    assert len(outcome.bodies_traced) >= 6
    assert max(outcome.bodies_traced.values()) <= 3, outcome.bodies_traced


def counters(x):
    """Every counter becomes a float in its loop."""
    s, a = 0.0, 0
    while a < x:
        b = 0
        while b < x + 1.0:
            c = 0
            while c < x + 2.0:
                d = 0
                while d < x + 3.0:
                    s = s + x * d
                    d = d + 1.5
                c = c + 1.25
            b = b + 0.75
        a = a + 0.5
    return s + a


def changed_late(x):
    """Arrays of known elements that a step reads before it changes them."""
    a, b, c, d, e = (np.full(3, float(k)) for k in range(5))
    s = 0.0
    for i in range(4):
        for j in range(3):
            s = s + a[j] * b[j] + c[i % 3] * d[j] * e[0]
            a[j] += x
            b[i % 3] = s
            c[0], d[j], e[j] = x * i, c[1] + 1.0, b[j]
    return s + np.sum(a * b) + np.sum(c * d * e)


@pytest.mark.parametrize("f, most", [(counters, 3), (changed_late, 2)])
def test_nests_are_traced_a_few_times_whatever_their_depth(f, most):
    close(rg.jit(f)(0.7), f(0.7))
    np.testing.assert_allclose(rg.grad(f)(0.7), differences(f, (0.7,)), rtol=1e-5)
    traced = rg.jit(f).compile(0.7).outcome.bodies_traced
    assert 1 < max(traced.values()) <= most, traced


def test_nested_whiles_are_traced_once():
    def f(x):
        s, a = x, 1.0
        while a < x:
            b = 1.0
            while b < x:
                c = 1.0
                while c < x:
                    s, c = s * 1.1, c + 1.0
                b = b + 1.0
            a = a + 1.0
        return s

    np.testing.assert_allclose(rg.grad(f)(3.5), differences(f, (3.5,)), rtol=1e-5)
    assert set(rg.jit(f).compile(3.5).outcome.bodies_traced.values()) == {1}


def test_what_a_step_that_is_traced_again_raises_is_not_told():
    """That `z` is 0 is so in the first step only, which is found out after it was read."""

    def g(x, n):
        a, s = np.zeros(2), 0.0
        for i in range(n):
            z = a[0]
            a[0] = x
            if z <= 0:
                raise ValueError(f"not positive in step {i}")
            s = s + z
        return s

    assert rg.jit(g)(2.0, 0) == 0.0
    with pytest.raises(ValueError, match="not positive"):
        rg.jit(g)(2.0, 3)


def test_a_loop_of_too_many_copies_is_refused():
    def f(x):
        rows = {}
        for i in range(20_000):
            rows[i] = x
            x = x + rows[i // 2]
        return x

    with pytest.raises(rg.Unsupported, match="10,000 steps of loops are unrolled"):
        rg.jit(f)(1.0)


# Names that conditions bind


def bound_by_while(x):
    k = 0
    while (y := x * 2.0) < 10.0 and (k := k + 1) < 9:
        x = x + y
    else:
        x = x + 0.5
    return y * x + k


def bound_by_if(x):
    s = 0.0
    for i in range(4):
        if (q := np.sin(x * i)) > 0.1 and (r := q * 2) > 0.2 or (q := q + 1.0) > 1.5:
            s = s + q * i
        elif not (r := q * 0.5) > 0.4:
            s = s + r
        s += (k := s * 0.5) + k
    return s + k + q


def bound_by_items(x):
    d, s = {"a": x}, [x, 1.0]
    for i in range(3):
        d["a"] += (w := x * i) + w
        s[i % 2] *= (u := 1.5 + w) * u
    return d["a"] + s[0] * s[1] + w + u


@pytest.mark.parametrize("function", [bound_by_while, bound_by_if, bound_by_items])
@pytest.mark.parametrize("x", [0.3, 1.2, 6.0])
def test_names_that_conditions_bind(function, x):
    value, gradient = rg.value_and_grad(function)(x)
    close(value, function(x))
    h = 1e-6
    assert gradient == pytest.approx((function(x + h) - function(x - h)) / (2 * h), rel=1e-6)


def by_an_index(x, k):
    z = [1.0, 2.0]
    y = {"a": 0.5}["b"] * x if x > 3.0 else x
    for i in range(2):
        if y > 1.0:
            y = y * z[i + k] / (2 - k)
    return y


def test_an_exception_on_a_side_is_raised_where_it_is_taken():
    f = rg.value_and_grad(by_an_index)
    assert f(2.0, 0)[0] == by_an_index(2.0, 0) and f(0.5, 1)[0] == 0.5 and f(0.5, 2)[0] == 0.5
    for x, k, kind in ((2.0, 1, IndexError), (4.0, 0, KeyError), (2.0, 2, IndexError)):
        with pytest.raises(kind):
            by_an_index(x, k)
        with pytest.raises(kind) as caught:
            f(x, k)
        assert caught.value.pos[0] == __file__


def test_a_step_that_is_traced_again_keeps_what_it_returns():
    def appends(x):
        values = []
        for e in x:
            values.append(e)
            if OUTSIDE:
                return np.sum(x) * len(values)
        return 100.0

    def leaves(x):
        values = []
        for e in x:
            values.append(e)
            if OUTSIDE:
                break
        else:
            return 100.0
        return np.sum(x) * values[-1]

    for f in (appends, leaves):
        assert rg.jit(f)(np.arange(1.0, 4.0)) == f(np.arange(1.0, 4.0))


OUTSIDE = True
