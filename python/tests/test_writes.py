"""What a function changes of its arguments under `rg.jit`, the caller sees, as of a plain function; derivatives are of copies."""

import collections
import copy
import dataclasses
import types

import numpy as np
import pytest

import retrograd as rg


class Model:
    def __init__(self, w, b):
        self.w, self.b, self.steps, self.name, self.log = w, b, 3, "model", []

    def loss(self, x):
        h = x
        for _ in range(self.steps):
            h = np.tanh(self.w @ h + self.b)
        return np.sum(h)

    def step(self, x):
        self.w = self.w * 0.5
        self.b += 1.0
        self.steps = self.steps + 1
        self.log.append(np.sum(x))
        return np.sum(self.w) + self.steps


@dataclasses.dataclass
class State:
    x: np.ndarray
    t: float
    parts: list


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def new_model():
    rng = np.random.default_rng(0)
    return Model(rng.normal(size=(2, 2)), rng.normal(size=2))


def kernel(out, x):
    for i in range(3):
        out[i] = x[i] * 2.0
    return out


def swapped(m, x):
    m.w, m.b = m.b, m.w
    return np.sum(m.w) * x[0]


def of_dict(state, x):
    state["x"] = state["x"] + x[0]
    state["new"] = state["y"]
    state["parts"][0] = 5.0
    state["parts"].append(x * 2.0)
    del state["old"]
    return state["x"]


def of_dataclass(state, x):
    state.x[1:] += 1.0
    state.t += 0.5
    state.parts[1] = state.parts[1] * x
    return state.t


def of_tuple(pair, x):
    pair[0][0] = x[1]
    pair[1]["a"] = x[0]
    return 1.0


def of_others(o, x):
    o.queue.append(x[0])
    o.queue.popleft()
    o.names["b"] = o.names.pop("a") * 2.0
    o.value = x
    return 0.5


def conditional(out, x):
    if x[0] > 0:
        out += x
    else:
        out[0] = -1.0
    return np.sum(out)


def in_a_loop(m, x):
    for i in range(20):
        m.w = m.w * 0.9 + x[0]
        m.b[i % 2] += x[1]
        m.steps += 1
    return np.sum(m.w)


def only_known(out, x):
    out[...] = 3.0
    out[1] = 2.0


CASES = [
    (kernel, lambda: np.zeros(4)), (Model.step, new_model), (swapped, new_model),
    (of_dict, lambda: {"x": 1.0, "y": np.ones(2), "parts": [1, 2], "old": 3.0}), (of_dataclass, lambda: State(np.ones(3), 1.0, [1, np.ones(3)])),
    (of_tuple, lambda: (np.ones(2), {"a": 1.0})),
    (of_others, lambda: types.SimpleNamespace(queue=collections.deque([1.0, 2.0]), names=collections.OrderedDict(a=1.0), value=2.0)),
    (conditional, lambda: np.arange(3.0)), (in_a_loop, new_model), (only_known, lambda: np.zeros(3)),
]


def same(a, b):
    if isinstance(a, np.ndarray):
        np.testing.assert_allclose(a, b, rtol=1e-14)
        assert a.dtype == b.dtype
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (list, tuple, collections.deque)):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif hasattr(a, "__dict__"):
        assert type(a) is type(b)
        same(vars(a), vars(b))
    else:
        assert type(a) is type(b), (a, b)
        assert a == b or a == pytest.approx(b, rel=1e-14)


@pytest.mark.parametrize(("function", "make"), CASES)
def test_the_caller_sees_what_changes(function, make):
    compiled = rg.jit(function)
    for x in (np.array([0.5, -1.5, 2.0]), np.array([-0.5, -1.5, 2.0])):
        x = x[:2] if function in (Model.step, swapped, in_a_loop) else x
        expected, found = make(), make()
        parts = vars(found).copy() if isinstance(found, Model) else {}
        for _ in range(2 if function not in (of_dict, of_others) else 1):
            if function is not only_known:
                value = function(expected, x)
                same(np.asarray(value, float), np.asarray(compiled(found, x), float))
            else:
                function(expected, x)
                rg.jit(lambda out, x: (only_known(out, x), np.sum(out))[1])(found, x)
            same(expected, found)
        if function is in_a_loop:
            assert parts["b"] is found.b and parts["w"] is not found.w


def test_an_array_that_is_returned_is_the_callers():
    out = np.zeros(4)
    assert rg.jit(kernel)(out, np.arange(3.0)) is out
    strided = np.zeros(8)
    rg.jit(kernel)(strided[::2], np.arange(3.0))
    np.testing.assert_array_equal(strided, [0, 0, 2, 0, 4, 0, 0, 0])


def test_arguments_that_share_memory_are_refused():
    out = np.ones(3)
    with pytest.raises(rg.Unsupported, match="shares memory"):
        rg.jit(kernel)(out, out)
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(rg.ArgumentError, match="read-only"):
        rg.jit(kernel)(frozen, np.ones(3))


def test_derivatives_are_of_copies():
    out, x = np.zeros(4), np.arange(3.0)
    rg.vjp(kernel, out, x)[1](np.ones(4))
    rg.grad(lambda out, x: np.sum(kernel(out, x)))(out, x)
    rg.jacfwd(kernel, argnums=1)(out, x)
    np.testing.assert_array_equal(out, np.zeros(4))


def test_inside_of_a_traced_function():
    filled = rg.jit(kernel)

    def f(x):
        out = np.zeros(3)
        filled(out, x)
        return np.sum(out * out)

    np.testing.assert_allclose(rg.grad(f)(np.arange(3.0)), 8.0 * np.arange(3.0))


def test_a_method_that_is_compiled_changes_its_object():
    class Counter:
        def __init__(self):
            self.total = 1.0

        @rg.jit
        def add(self, x):
            self.total = self.total + x
            return self.total * 2.0

    counter = Counter()
    assert counter.add(2.0) == 6.0 and counter.add(3.0) == 12.0 and counter.total == 6.0


def test_gradients_with_respect_to_attributes():
    model, x = new_model(), np.array([0.5, -0.25])
    gradient = rg.grad(Model.loss)(model, x)
    assert type(gradient) is Model and gradient.steps is None and gradient.name == "model"
    for name in ("w", "b"):
        for index in np.ndindex(getattr(model, name).shape):
            ends = []
            for h in (1e-6, -1e-6):
                moved = copy.deepcopy(model)
                getattr(moved, name)[index] += h
                ends.append(moved.loss(x))
            assert getattr(gradient, name)[index] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def smoothed(s, v):
    for _ in range(20):
        s[1:-1] = 0.25 * s[:-2] + 0.5 * s[1:-1] + 0.25 * s[2:]
        v = 0.9 * v - 0.01 * np.sin(s) * s
        s = s + v
    return np.sum(s * s)


def test_an_argument_that_a_loop_changes_and_exchanges():
    rng = np.random.default_rng(0)
    s, v = rng.normal(size=6), rng.normal(size=6)
    expected, found = s.copy(), s.copy()
    assert rg.jit(smoothed)(found, v) == pytest.approx(smoothed(expected, v), rel=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
