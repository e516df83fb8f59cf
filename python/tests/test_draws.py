"""Random numbers of generators with a known seed: NumPy's own, in straight code and in loops, where they are rows of one array."""

import textwrap

import numpy as np
import pytest
from oracle import check

import retrograd as rg

v = np.array([0.5, -0.25, 1.0])

PROGRAMS = {
    "straight": """
        rng = np.random.default_rng(3)
        return np.sum(x * rng.normal(size=3)) + rng.uniform()""",
    "a loop": """
        rng, s = np.random.default_rng(3), x[0]
        for i in range(50):
            s = s * 0.9 + 0.1 * rng.normal() * x[1]
        return s + rng.normal() * x[2]""",
    "several kinds": """
        rng, s = np.random.default_rng(4), x[0]
        for i in range(20):
            s = np.sin(s + rng.normal(0.0, 0.5)) + np.sum(x * rng.normal(size=3))
            k = rng.integers(3)
            s = s + x[k] * rng.uniform(-1, 1) + x[rng.integers(0, 3)]
        return s""",
    "nested": """
        rng, s = np.random.default_rng(5), x[0]
        for i in range(6):
            a = rng.normal()
            for j in range(4):
                s = s * 0.5 + a * x[j % 3] + rng.uniform()
            s = s + rng.standard_normal(3) @ x
        return s + rng.normal()""",
    "in a helper": """
        def noise(rng, scale):
            return scale * rng.normal()
        rng, s = np.random.default_rng(6), x[0]
        for i in range(30):
            s = s * 0.9 + noise(rng, x[1])
        return s""",
    "made in each step": """
        s = x[0]
        for i in range(5):
            rng = np.random.default_rng(7)
            s = s * 0.9 + rng.normal() * x[1] + rng.normal()
        return s""",
    "made by the index": """
        s = x[0]
        for i in range(5):
            rng = np.random.default_rng(i)
            s = s * 0.9 + rng.normal() * x[1]
        return s""",
    "two generators": """
        a, b, s = np.random.default_rng(8), np.random.RandomState(9), x[0]
        for i in range(10):
            s = s * 0.9 + a.normal() * x[1] + b.normal() * x[2] + b.rand(3) @ x
        return s + a.normal() + b.normal()""",
    "the generator of Python": """
        a, s = random.Random(8), x[0]
        for i in range(10):
            s = s * 0.9 + a.random() * x[1] + a.gauss(0, 1) + a.randrange(3)
        return s + a.random()""",
    "a permutation": """
        rng, s = np.random.default_rng(8), x[0]
        for i in range(10):
            p = rng.permutation(3)
            s = s * 0.9 + x[p] @ np.array([1.0, 2.0, 3.0]) + x[rng.choice(3)]
        return s""",
    "unrolled": """
        rng, s = np.random.default_rng(8), x[0]
        ws = [1.0, 2.0, 3.0]
        for i in range(3):
            s = s * ws[i] + rng.normal() * x[i]
        return s""",
    "with a list": """
        rng, s, xs = np.random.default_rng(8), x[0], []
        for i in range(20):
            s = s * 0.9 + rng.normal() * x[1]
            xs.append(s)
        return np.sum(np.array(xs) ** 2)""",
    "a counted while": """
        rng, s, t = np.random.default_rng(8), x[0], 0.0
        while t < 2.0:
            s = s + 0.1 * rng.normal() * x[1]
            t += 0.1
        return s""",
}


def written(body, tmp_path, arguments="x"):
    file = tmp_path / "program.py"
    file.write_text(f"import random\nimport numpy as np\ndef f({arguments}):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
    scope = {"__name__": "program"}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_numpy(name, tmp_path):
    f = written(PROGRAMS[name], tmp_path)
    check(f, v)
    outcome = rg.jit(f).compile(v).outcome
    assert not outcome.unrolled or name in ("unrolled", "made by the index"), outcome.unrolled
    assert max(outcome.bodies_traced.values(), default=0) <= 3


def test_a_stream_is_part_of_the_program():
    def f(x):
        rng = np.random.default_rng(0)
        for i in range(10_000):
            x = x + 0.01 * rng.normal(size=3)
        return np.sum(x)

    compiled = rg.jit(f).compile(v)
    assert "[10000,3]" in str(compiled.program).replace(" ", "") or "10000, 3" in str(compiled.program)
    np.testing.assert_allclose(compiled(v), f(v))


REFUSED = {
    "rng = np.random.default_rng()\nreturn rng.normal() * x[0]": "seed",
    "return np.random.normal() * x[0]": "random numbers",
    "np.random.seed(0)\nreturn np.random.normal() * x[0]": "random numbers",
    "return random.random() * x[0]": "random numbers",
    "rng = np.random.default_rng(0)\nif x[0] > 0:\n    return x[0] * rng.normal()\nreturn x[0]": "traced condition",
    "rng = np.random.default_rng(0)\nwhile x[0] > 1:\n    x = x * 0.5 * rng.normal()\nreturn x[0]": "random numbers",
    "rng = np.random.default_rng(0)\nreturn rng.normal(x[0])": "traced parameter",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_would_be_drawn_once_is_refused_at_its_line(body, tmp_path):
    with pytest.raises(rg.Unsupported, match=REFUSED[body]) as caught:
        rg.grad(written(body, tmp_path))(v)
    assert caught.value.pos[0].endswith("program.py")


def test_a_draw_under_a_condition_on_the_index_unrolls_the_loop():
    def f(x):
        rng, total = np.random.default_rng(3), 0.0
        for i in range(5):
            if i == 2:
                total += rng.normal() * x[0]
            total += x[i] * (i + 1)
        return total + rng.normal() * x[1]

    x = np.array([0.5, -0.2, 0.9, 1.3, -1.0])
    np.testing.assert_allclose(rg.jit(f)(x.copy()), f(x), rtol=1e-12)
