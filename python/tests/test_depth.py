"""A nest of loops is traced as often as its loops together, not as their product: by the bodies that are opened, not by a clock."""

import linecache

import numpy as np
import pytest

import retrograd as rg
from retrograd import trace

HEADS = {
    "counted": "for i{k} in range(n):",
    "static": "for i{k} in range(6):",
    "triangle": "for i{k} in range(n if {k} == 0 else i{before}):",
    "while": "while s{k} < n:",
    "branch": "if np.sum(x) > 0.1 * n:",
}


def nest(kinds, depth):
    """Each level has a number that grows from 0, an array of its own that is filled, and one from outside."""

    def level(k, indent):
        if k == depth:
            return [f"{indent}x = np.sin(x)"]
        head = HEADS[kinds[k % len(kinds)]].format(k=k, before=k - 1)
        inside = indent + "    "
        return [
            f"{indent}s{k} = 0",
            f"{indent}a{k} = np.zeros(2)",
            f"{indent}{head}",
            f"{inside}s{k} = s{k} + 0.5",
            *level(k + 1, inside),
            f"{inside}a{k}[1] = x[0] * s{k}",
            f"{inside}y[0] = y[0] + a{k}[1]",
            f"{indent}x = x + a{k}[1]",
        ]

    name = f"nest_of_{'_'.join(kinds)}_{depth}.py"
    text = "\n".join(["def f(x, n):", "    y = np.zeros(3)", *level(0, "    "), "    return np.sum(x) + np.sum(y)", ""])
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"np": np}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def bodies(function, monkeypatch):
    """Bodies that are opened while a function is traced and planned."""
    count = 0
    opened = trace.Frame.__init__

    def counting(self, *args, **options):
        nonlocal count
        count += 1
        opened(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(trace.Frame, "__init__", counting)
        rg.jit(function, threads=1).plan(np.array([0.3, 0.4]), 2)
    return count


@pytest.mark.parametrize("kinds", [["counted"], ["static"], ["triangle"], ["while"], ["branch"], ["counted", "branch", "while"]], ids="-".join)
def test_bodies_are_opened_no_power_of_the_depth_often(kinds, monkeypatch):
    some, more = bodies(nest(kinds, 4), monkeypatch), bodies(nest(kinds, 8), monkeypatch)
    assert more <= 4.5 * some, (some, more)


@pytest.mark.parametrize("kinds", [["counted"], ["while", "branch"]], ids="-".join)
def test_what_is_guessed_changes_no_bit(kinds):
    f, x = nest(kinds, 4), np.array([0.3, 0.4])
    value, gradient = rg.value_and_grad(f, threads=1)(x, 2)
    assert value == pytest.approx(f(x, 2), rel=1e-12)
    numeric = [(f(x + d, 2) - f(x - d, 2)) / 2e-6 for d in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-7)
