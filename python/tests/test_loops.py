"""Loops: ranges of all kinds, nests, carries, helpers, branches."""

import numpy as np
import pytest
from oracle import check, check_value, same_bits

import retrograd as rg

rng = np.random.default_rng(5)
v = rng.normal(size=6)


def test_loops_are_not_unrolled():
    def f(x):
        for i in range(100_000):
            x = x * 0.999 + 0.001
        return x

    assert len(str(rg.jit(f).compile(1.0).program).splitlines()) < 30


@pytest.mark.parametrize(
    "steps",
    [
        "range(6)", "range(0)", "range(1)", "range(2, 5)", "range(5, 2)", "range(0, 6, 2)", "range(1, 6, 3)", "range(5, -1, -1)", "range(4, 0, -2)",
        "range(-3, 3)", "reversed(range(1, 6, 2))", "range(n)", "range(n - 2, n)", "range(0, n, 2)", "range(n - 1, -1, -1)", "range(n, 0, -2)",
        "reversed(range(n))", "reversed(range(1, n, 2))", "range(n, 3)", "range(-n, 0)", "range(3, 3 - n, -1)", "range(n - 20)",
    ],
)
def test_ranges(steps, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(f"import numpy as np\ndef f(x, n):\n    s = 1.0\n    for i in {steps}:\n        s = s * x[i % 6] + i\n        x[i % 6] += s * 0.125\n    return s + np.sum(x * x)\n")
    scope = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    for n in (0, 1, 5, 6) if "n" in steps.replace("range", "") else (6,):
        check(scope["f"], v, n)


def divided(x):
    s = 0.0
    for i in range(-3, 9):
        s = s * x[i % 4] + (i // 3) * x[(i - 2) % 5] + (i + 3) // 4 + (i + 3) % 4 * x[0] + (i + 2) % 4 + (i + 2) // 4
    for i in range(3, 9):
        s = s * x[i % 4] + i // 3 + i % -4 + (i - 4) // 3 + (i - 3) // 3 * x[i % 3] + 7 % (i + 1) + 7 // (i + 1)
    for i in range(8, -2, -3):
        s = s + i % 3 * x[1] + i // 3 * x[2] + (i + 1) % 3 + (i + 1) // 3
    return s


def test_python_divides_towards_minus_infinity_whatever_is_known_of_an_integer():
    check(divided, v)
    program = str(rg.jit(every_third).compile(v).program)
    assert "rem" in program and "select" not in program and " lt " not in program, program


def every_third(x):
    for i in range(9):
        if i % 3 == 0:
            x = np.sin(x)
        x = x * 0.5
    return x[2]


def negative_index(x):
    s = 0.0
    for i in range(-6, 0):
        s = s + x[i] * (i + 10)
    return s


def test_negative_indices_in_a_loop():
    check(negative_index, v)


def run_time_count(x, n):
    for i in range(n):
        x = np.sin(x) * 1.1
    return np.sum(x)


def test_one_compilation_serves_all_counts():
    g = rg.value_and_grad(run_time_count)
    for n in (0, 1, 2, 9):
        value, gradient = g(v, n)
        np.testing.assert_allclose(value, run_time_count(v, n), rtol=1e-12)
    assert len(g.cache) == 1


def nested(x, n):
    s = 0.0
    for i in range(n):
        t = x[i]
        for j in range(i + 1):
            t = t * 0.5 + x[j]
            for k in range(2):
                s += t * x[k]
        x[i] = t
    return s + np.sum(x)


def test_nested_loops():
    check(nested, v, 4)


def nest(x):
    y = x * 0.5
    for i in range(3):
        y = 0.5 * np.sin(y)
        for j in range(2):
            x = np.sin(x) + y
    return np.sum(np.sin(x)) + np.sum(y * y)


@pytest.mark.parametrize("strategy", ["auto", "keep_all", "periodic", "revolve"])
def test_a_nest_has_the_same_bits_under_every_strategy(strategy):
    same_bits(nest, v, strategy=strategy)


def integers(x, n):
    count, parity = 0, 1
    for i in range(n):
        count += 2
        parity = -parity
        x = x + count * parity
    return np.sum(x * x) + count


def test_integer_carries():
    check(integers, v, 5)


def becomes_float(x):
    total = 0
    flag = True
    for i in range(4):
        total = total + x[i]
        flag = total > 0
    return total + 1.0 * flag


def test_an_integer_that_becomes_a_float():
    check_value(becomes_float, v)


def first_bound_inside(x):
    for i in range(3):
        last = x[i] * 2.0
        row = x[i : i + 2] * 3.0
    return last + np.sum(row) + i


def test_a_name_first_bound_inside():
    check(first_bound_inside, v)


def temporaries(x):
    tmp = None
    for i in range(3):
        tmp = x[i]
        x[i] = tmp * tmp
    for i in range(2):
        tmp = x[i + 1]
        x[i] += tmp
    return np.sum(x)


def test_temporaries_are_reused():
    check(temporaries, v)


def dictionary_state(x):
    state = {"x": x, "v": np.zeros_like(x)}
    for i in range(4):
        state = {"x": state["x"] + 0.1 * state["v"], "v": state["v"] - 0.1 * state["x"]}
    return np.sum(state["x"] * state["v"])


def test_dictionary_state():
    check(dictionary_state, v)


def step(x, dt):
    for k in range(2):
        x = x + dt * np.sin(x)
    return x


class Model:
    def __init__(self):
        self.w = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

    def energy(self, x):
        for k in range(3):
            x = x * self.w + step(x, 0.1)
        return np.sum(x)


def with_helpers(x):
    for i in range(3):
        x = step(x, 0.1 * i)
    return Model().energy(x)


def test_helper_functions_and_methods_are_traced():
    check(with_helpers, v)
    assert str(rg.jit(with_helpers).compile(v).program).count("for %") >= 3


def test_methods_are_transformed():
    model = Model()
    value, gradient = rg.value_and_grad(model.energy)(v)
    np.testing.assert_allclose(value, model.energy(v), rtol=1e-12)


def test_closures_and_defaults():
    factor = 3.0

    def f(x, power=2, *, shift=1.0):
        def inner(y):
            for i in range(power):
                y = y * factor
            return y + shift

        return np.sum(inner(x))

    check(f, v)
    np.testing.assert_allclose(rg.jit(f)(v, shift=2.0), f(v, shift=2.0))


def unrolled(x):
    total = 0.0
    for k, w in [(0, 1.0), (2, 3.0)]:
        if k == 2:
            total = total + 1.0
        total = total + w * x[k]
    parts = []
    for name in ("a", "b"):
        parts.append(x[len(parts)])
        if len(parts) == 5:
            break
    while len(parts) < 4:
        parts.append(x[0])
    return total + sum(parts)


def test_ordinary_python_stays_ordinary():
    check(unrolled, v)


def branches(x, n):
    s = 0.0
    for i in range(n):
        if x[i] > 0:
            s += x[i] * x[i]
            x[i] = 0.5 * x[i]
        elif i % 2 == 0:
            s = s - 1.0
        else:
            x[0] = x[0] + 0.25
        if i == 3:
            t = x[i]
        else:
            t = 0
        s = s + t
    return s + np.sum(x)


def test_branches_on_traced_conditions():
    check_value(branches, v, 6)
    g = rg.value_and_grad(branches)
    value, gradient = g(v, 6)
    h = 1e-6
    for k in range(6):
        e = np.zeros(6)
        e[k] = h
        np.testing.assert_allclose(gradient[k], (branches(v + e, 6) - branches(v - e, 6)) / (2 * h), rtol=1e-6, atol=1e-8)


def test_zero_trips():
    def f(x, n):
        y = x * 2.0
        for i in range(n):
            y = y * x
        for i in range(0):
            y = y * unknown_name
        return np.sum(y)

    check(f, v, 0)


def test_threads_trace_apart():
    from concurrent.futures import ThreadPoolExecutor

    def run(k):
        def f(x):
            for i in range(k + 1):
                x = np.sin(x)
            return np.sum(x)

        return np.allclose(rg.jit(f)(v), f(v))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))
