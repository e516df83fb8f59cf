"""`print` in traced functions: at every call, once per step, whatever a gradient runs again; with Python's own text."""

import textwrap

import numpy as np
import pytest

import retrograd as rg

v = np.array([0.5, 1.0])

PROGRAMS = {
    "plain": """
        print("start", x.shape, sep=": ")
        return np.sum(x) * a""",
    "values": """
        print(x, a, x[0], "and", a * 2, x > 0.6, [x[1], (a, None)], {"a": a}, end="!")
        return np.sum(x)""",
    "f-strings": """
        print(f"{a:.3f} {x[0]:8.2e} {x!s} {a!r} {3:>5} {a:{8}.2f} {'t' + str(a)}")
        return np.sum(x)""",
    "format": """
        print("{} {:.1f} {name}".format(a, x[0], name=x), "%5.2f %s" % (a, x), str(x[1]) + "!", "a" + f"{a}", format(a, ".2f"), repr(a))
        return np.sum(x)""",
    "in a loop": """
        for i in range(4):
            x = np.sin(x) * a
            print(i, f"{x[0]:.4f}")
            for j in range(2):
                print("  ", j, x[j])
        return np.sum(x)""",
    "in a branch": """
        for i in range(5):
            x = x * 1.3
            if x[0] > 1.0:
                print("large", x[0])
            else:
                print("small at", i)
        return np.sum(x)""",
    "in a while": """
        while x[0] < 3.0:
            x = x * 1.5
            print(f"{x[0]:.3f}")
        print("done")
        return np.sum(x)""",
    "a list that changes": """
        seen = []
        for i in range(3):
            seen.append(i)
            print(seen)
        return np.sum(x)""",
    "an object": """
        class State:
            def __init__(self, x):
                self.x = x
            def __repr__(self):
                return f"State({self.x[0]:.2f})"
        state = State(x)
        for i in range(3):
            state.x = state.x * 2.0
            print(state)
        return np.sum(state.x)""",
}


def written(body, tmp_path):
    file = tmp_path / "program.py"
    file.write_text("import numpy as np\ndef f(x, a):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
    scope = {"__name__": "program"}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_printed_is_what_python_prints(name, tmp_path, capsys):
    f = written(PROGRAMS[name], tmp_path)
    f(v, 1.1)
    expected = capsys.readouterr().out
    for transform in (rg.jit, rg.grad, lambda f: rg.value_and_grad(f, strategy="recompute_all"), lambda f: rg.jacfwd(f)):
        transformed = transform(f)
        for _ in range(2):
            transformed(v, 1.1)
            assert capsys.readouterr().out == expected


def test_a_function_that_prints_is_not_saved(tmp_path):
    def f(x):
        print(x)
        return x * 2.0

    with pytest.raises(rg.Unsupported, match="print"):
        rg.jit(f).compile(1.0).save(tmp_path / "f.rgx")


def test_messages_of_errors_have_their_values_as_they_are_written(tmp_path):
    f = written("if x[0] < 0:\n    raise ValueError(f'found {x[0]:.3f}, expected more than {0}')\nassert a > 0, f'a is {a}'\nreturn np.sum(x)", tmp_path)
    g = rg.jit(f)
    assert g(v, 1.0) == 1.5
    with pytest.raises(ValueError, match=r"found \{x\[0\]\}, expected more than"):
        g(-v, 1.0)
    with pytest.raises(AssertionError, match=r"a is \{a\}"):
        g(v, -1.0)


def test_a_string_with_traced_values_is_nothing_else(tmp_path):
    for body in ("return np.sum(x) * len(f'{a}')", "return np.sum(x) * {'1.0': 2.0}[f'{a}']", "return float(f'{a}') * x[0]"):
        with pytest.raises((rg.Unsupported, TypeError, KeyError)):
            rg.grad(written(body, tmp_path), argnums=(0, 1))(v, 1.0)
