"""Lists that grow in loops: they are arrays while the loop is traced, so that the loop is not unrolled, and lists with Python's meaning after it."""

import textwrap

import numpy as np
import pytest
from oracle import check

import retrograd as rg

v = np.random.default_rng(3).normal(size=6)

# Functions of a vector x; those of the first group keep their loops.
ROLLED = {
    "append, then array": """
        xs, s = [], x[0]
        for i in range(40):
            s = np.sin(s) + x[i % 6] * 0.1
            xs.append(s)
        a = np.array(xs)
        return np.sum(a * a) + xs[-1] + len(xs)""",
    "append arrays, then stack": """
        xs, s = [], x
        for i in range(40):
            s = np.sin(s) * 1.1
            xs.append(s)
        return np.sum(np.stack(xs)[::2] ** 2) + xs[3][1] + np.sum(xs[-1])""",
    "a start and the last one": """
        xs = [x[0]]
        for i in range(1, 40):
            xs.append(np.tanh(xs[-1] + x[i % 6]))
        return sum(xs) + xs[0] * xs[20]""",
    "an index behind": """
        xs = [x[0], x[1]]
        for t in range(2, 40):
            xs.append(np.tanh(xs[t - 1] - 0.5 * xs[t - 2]))
        return np.sum(np.array(xs) ** 2)""",
    "an index from the start": """
        xs = [x[0]]
        for t in range(39):
            xs.append(np.tanh(xs[t] - 0.5 * xs[0] + xs[t // 2]))
        return np.mean(xs)""",
    "an index into what was empty": """
        rows, y = [], x[0]
        for i in range(40):
            rows.append(y)
            y = 0.5 * (y + rows[i // 2]) + x[i % 6]
        return y + rows[-2]""",
    "python numbers": """
        xs, t = [0.0], 0.0
        for i in range(40):
            t += 0.25
            xs.append(t)
        return np.sum(x) * sum(xs) + len(xs)""",
    "tuples": """
        path, p, q = [], x[0], x[1]
        for i in range(40):
            p, q = p + 0.1 * q, q - 0.1 * p
            path.append((p, q))
        return sum(p * q for p, q in path) + path[-1][0]""",
    "a loop over it": """
        xs, s = [], x[0]
        for i in range(40):
            s = s * 0.9 + 0.1
            xs.append(s)
        total = 0.0
        for k, s in enumerate(xs):
            total = total * 0.5 + s * k
        for s, r in zip(xs, reversed(xs)):
            total += s * r
        return total""",
    "nested": """
        xs, s = [], x[0]
        for i in range(6):
            for j in range(7):
                s = np.sin(s) + x[i]
                xs.append(s)
            xs.append(-s)
        return np.sum(np.array(xs) * np.arange(48))""",
    "a list of each step": """
        total = 0.0
        for i in range(6):
            xs = [x[i]]
            for j in range(30):
                xs.append(np.sin(xs[-1]) + xs[j])
            total = total + xs[-1] * xs[3]
        return total""",
    "pop": """
        xs, s = [], x[0]
        for i in range(30):
            s = s * 0.9 + x[i % 6]
            xs.append(s)
        total = 0.0
        for i in range(30):
            total = total * 0.8 + xs.pop()
        return total + len(xs)""",
    "push and pop": """
        xs, s = [x[0]], x[1]
        for i in range(30):
            xs.append(s)
            xs.append(s * 2)
            s = np.sin(xs.pop() + xs[0])
        return s + np.sum(np.array(xs)) + len(xs)""",
    "both sides": """
        xs, s = [], x[0]
        for i in range(30):
            if s > 0:
                xs.append(s)
                s = s - 1.0
            else:
                xs.append(-s)
                s = s + 0.7
        return np.sum(np.array(xs) ** 2)""",
    "two lists": """
        xs, ys, s = [], [x[1]], x[0]
        for i in range(30):
            xs.append(s)
            ys.append(ys[-1] * 0.5 + xs[-1])
            s = np.sin(ys[i])
        return np.dot(np.array(xs), np.array(ys[1:])) + ys[-1]""",
    "extend and plus": """
        xs, s = [], x[0]
        for i in range(30):
            xs.extend([s, s * 0.5])
            xs += [1.0 * i]
            s = np.sin(s + xs[-2])
        return np.sum(np.array(xs) * np.arange(90))""",
    "a helper": """
        def keep(xs, s):
            xs.append(s)
            return len(xs)
        xs, s = [], x[0]
        for i in range(30):
            s = np.sin(s) + keep(xs, s) * 0.1
        return sum(xs)""",
    "a while that is counted": """
        xs, s, t = [], x[0], 0.0
        while t < 5.0:
            s = s + 0.1 * np.sin(s + t)
            t += 0.1
            xs.append(s)
        return np.sum(np.array(xs)) + len(xs)""",
    "stored": """
        xs = [x[0], x[1], x[2]]
        for i in range(30):
            xs.append(xs[-1] * 0.5 + x[3])
            xs[-2] = xs[-2] + 1.0
            xs[0] = xs[0] * 0.9
        return np.sum(np.array(xs) * np.arange(33))""",
    "attributes": """
        class Log:
            def __init__(self):
                self.values = []
            def add(self, value):
                self.values.append(value)
        log, s = Log(), x[0]
        for i in range(30):
            s = np.cos(s)
            log.add(s)
        return np.sum(np.array(log.values) ** 2)""",
}

# These have a step that needs the list as it is there.
OTHERS = {
    "changed after": """
        xs, y = [], x * 1.0
        for i in range(4):
            y[0] = y[0] + 1.0
            xs.append(y)
        return np.sum(np.array(xs) * np.arange(24).reshape(4, 6))""",
    "changed through": """
        xs, y = [], x * 1.0
        for i in range(4):
            xs.append(y)
            xs[-1][0] = 5.0 + i
            y = y * 2.0
        return np.sum(np.array(xs) * np.arange(24).reshape(4, 6)) + y[0]""",
    "inserted": """
        xs = [x[0]]
        for i in range(5):
            xs.insert(0, xs[-1] * x[i])
        return np.sum(np.array(xs) * np.arange(6))""",
    "as a whole": """
        xs = [x[0]]
        for i in range(5):
            xs.append(sum(xs) * 0.5 + np.max(np.array(xs)))
        return xs[-1]""",
    "as a condition": """
        xs, s = [], x[0]
        for i in range(5):
            if xs:
                s = s * 2.0
            if xs == []:
                s = s + 1.0
            if not xs or len(xs) > 3:
                s = s - 0.25
            xs.append(s)
        return sum(xs)""",
    "taken apart": """
        xs = [x[0]]
        for i in range(4):
            first, *rest = xs
            xs.append(first * 0.5 + len(rest) + max(*xs, 0.1))
        return sum(xs)""",
    "mixed": """
        xs = [x[0]]
        for i in range(4):
            xs.append(x[:2] * i if i % 2 else x[i])
        return sum(np.sum(y) for y in xs)""",
    "by the index": """
        xs = []
        for i in range(6):
            if i % 2 == 0:
                xs.append(x[i])
        return np.sum(np.array(xs) * np.arange(3))""",
    "known in Python": """
        sizes, powers = [32], [1]
        for i in range(5):
            sizes.append(sizes[-1] // 2)
            powers.append(powers[i] * 2 ** 20)
        return np.sum(np.zeros(sizes[3]) + x[0]) * (powers[-1] % 7) + sum(np.sum(np.ones(n)) for n in sizes)""",
    "until a break": """
        xs, s = [], x[0]
        for i in range(6):
            if i == 4:
                break
            s = s * 0.5 + x[i]
            xs.append(s)
        return np.sum(np.array(xs))""",
}


def written(body, tmp_path):
    file = tmp_path / "program.py"
    file.write_text("import numpy as np\ndef f(x):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
    scope = {"__name__": "program"}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("name", ROLLED)
def test_a_list_that_grows_is_not_unrolled(name, tmp_path):
    f = written(ROLLED[name], tmp_path)
    check(f, v)
    compiled = rg.jit(f).compile(v)
    assert not [line for line, count in compiled.outcome.unrolled.items() if count > 6 and name != "tuples"], compiled.outcome.unrolled
    assert max(compiled.outcome.bodies_traced.values()) <= 3


@pytest.mark.parametrize("name", OTHERS)
def test_a_list_has_the_meaning_of_python(name, tmp_path):
    check(written(OTHERS[name], tmp_path), v)


def test_a_list_that_grows_takes_the_memory_of_its_items():
    def f(x):
        xs = [x[0]]
        for i in range(100_000):
            xs.append(np.sin(xs[-1]) * 1.5)
        return np.sum(np.array(xs))

    compiled = rg.jit(f).compile(v)
    assert len(str(compiled.program).splitlines()) < 60
    assert compiled.plan.bytes_peak < 2_000_000
    assert rg.grad(f)(v).shape == (6,)


def test_items_of_a_list_are_seen_to_change_after_the_loop(tmp_path):
    text = """
        xs, y = [], x
        for i in range(5):
            y = y * 2.0
            xs.append(y)
        y[0] = 7.0
        return np.sum(np.array(xs))"""
    f = written(text, tmp_path)
    try:
        assert rg.jit(f)(v) == f(v)
    except rg.Unsupported as error:
        assert "share memory" in str(error)


def test_beyond_the_end_of_a_list_is_an_error(tmp_path):
    f = written("xs = [x[0]]\nfor i in range(9):\n    xs.append(xs[i + 1] if x[0] > 0 else x[i % 6])\nreturn sum(xs)", tmp_path)
    with pytest.raises(IndexError):
        rg.jit(f)(np.ones(6))
    assert np.isfinite(rg.jit(f)(-np.ones(6)))


def test_a_count_that_is_an_argument_is_asked_for(tmp_path):
    def f(x, n):
        xs = [x[0]]
        for i in range(n):
            xs.append(np.sin(xs[-1]))
        return np.sum(np.array(xs))

    for n in (0, 1, 5, 50):
        np.testing.assert_allclose(rg.jit(f)(v, n), f(v, n))


def test_a_change_of_an_item_that_was_read_is_seen_in_the_list():
    def f(x):
        xs = [x.copy()]
        for _ in range(4):
            y = xs[-1]
            y *= 0.9
            xs.append(y + x)
        return sum(v.sum() for v in xs)

    x = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(rg.jit(f)(x.copy()), f(x.copy()), rtol=1e-14)
    np.testing.assert_allclose(rg.grad(f)(x.copy()), np.full(3, f(np.ones(3)) / 3), rtol=1e-13)
