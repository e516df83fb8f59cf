"""Objects that are one of several by a traced condition: strings of a state machine, members of an enumeration, functions; and lists of traced length."""

import enum
import math

import numpy as np
import pytest
from oracle import check_by_differences

import retrograd as rg

x = np.array([0.5, -0.2, 0.9, 1.3, -1.0, 2.0])


class Phase(enum.Enum):
    SOLID = 1.0
    LIQUID = 2.0


GAINS = {"up": 0.5, "down": -0.25, "idle": 0.0}


def machine(x):
    mode, total = "idle", 0.0
    for v in x:
        if mode == "idle" and v > 0.4:
            mode = "up"
        elif mode == "up" and v < 0.0:
            mode = "down"
        elif mode in ("down", "idle"):
            mode = "idle"
        total += GAINS[mode] * v
    return total if mode != "idle" else total * 2.0


def members(x):
    phase, heat = Phase.SOLID, 0.0
    for v in x:
        heat = heat + v * phase.value
        phase = Phase.LIQUID if heat > 0.8 else Phase.SOLID
        if phase is Phase.LIQUID:
            heat = heat * 0.9
    return heat


def attributes(x):
    class Valve:
        def __init__(self):
            self.state, self.flow = "closed", 0.0

        def step(self, v):
            if self.state == "closed" and v > 0.6:
                self.state = "open"
            elif self.state == "open" and v < 0.0:
                self.state = "closed"
            self.flow += v if self.state == "open" else 0.1 * v

    valve = Valve()
    for v in x:
        valve.step(v)
    return valve.flow * (2.0 if valve.state == "open" else 1.0)


def functions(x):
    f = np.sin if x[0] > 0.2 else np.cos
    g = math.exp
    for v in x:
        if v < -0.5:
            g = math.atan
    return f(x[1]) + g(x[2]) + (1.0 if f is np.sin else 2.0)


def appended_before_a_break(x):
    found, y = [], x[0]
    for k in range(20):
        found.append(y)
        if abs(y) < 0.05:
            break
        y = y * 0.5
    total = 0.0
    for v in found:
        total += v * v
    return found[-1] + len(found) * x[1] + total + np.sum(np.array(found))


def appended_under_a_condition(x):
    kept = []
    for i in range(6):
        if x[i] > 0.2:
            kept.append(x[i] * 2.0)
    return np.mean(kept) + kept[-1] * 3.0 + sum(kept) + max(kept) + (kept[0] if kept else 0.0)


def appended_in_a_while(x):
    path, v = [], x[3]
    while v > 0.1:
        path.append((v, v * 2.0))
        v = v * 0.6
    return len(path) * x[0] + path[-1][1]


def arrays_and_nested_loops(x):
    numbers, rows = [0.0], []
    for i in range(6):
        for j in range(3):
            if x[i] * j > 0.4:
                numbers.append(x[i] * j)
                rows.append(np.array([x[i], x[j]]))
            elif x[i] < 0.0:
                numbers.append(1.0)
                numbers.append(2.0)
        if len(numbers) > 4:
            numbers.pop()
    return np.sum(np.array(numbers) ** 2) + rows[-1][0] + rows[0] @ rows[-1]


CASES = [machine, members, attributes, functions, appended_before_a_break, appended_under_a_condition, appended_in_a_while, arrays_and_nested_loops]


@pytest.mark.parametrize("f", CASES)
def test_value_and_gradient(f):
    check_by_differences(f, x)


def test_an_item_that_is_not_there_is_an_error():
    def f(x):
        kept = []
        for v in x:
            if v > 5.0:
                kept.append(v)
        return kept[-1]

    with pytest.raises(IndexError):
        rg.jit(f)(x)


def test_a_list_of_a_while_without_bound_has_a_length_and_a_last_item_alone():
    def f(x):
        path, v = [], x[3]
        while v > 0.1:
            path.append(v)
            v = v * 0.6
        return np.sum(np.array(path))

    with pytest.raises(rg.Unsupported, match="no bound that is known while tracing"):
        rg.grad(f)(x)


def test_what_needs_the_object_itself_is_known_or_refused():
    def f(x):
        mode = "up" if x[0] > 0.2 else "down"
        return x[0] * len(mode)

    # What is not differentiated may become known, and its conditions with it.
    for point in (x, -x):
        assert rg.jit(f)(point.copy()) == f(point)
    with pytest.raises(rg.Unsupported, match="one of several"):
        rg.grad(f)(x.copy())


def test_whether_two_arrays_are_one_object():
    def f(x):
        y, z = x, x * 1.0
        return x[0] + (1.0 if y is x else 2.0) + (4.0 if z is x else 8.0)

    def g(x):
        y = x if x[0] > 0.2 else x * 2.0
        return x[0] + (1.0 if y is x else 2.0)

    assert rg.jit(f)(x.copy()) == f(x)
    with pytest.raises(rg.Unsupported, match="one object"):
        rg.jit(g)(x.copy())


five = np.array([0.3, -0.7, 1.2, 0.5, 0.9])


def bound_to_a_row_in_a_loop(x):
    m, y = np.outer(x, x), x * 1.0
    for i in range(5):
        y[(i + 1) % 5] += 6.0
        for _ in range(2):
            y = m[2]
    return np.sum(y * y) + np.sum(m)


def bound_to_a_row_under_a_known_condition(x):
    m, y = np.outer(x, x), x * 1.0
    for i in range(5):
        y += 6.0
        if i % 2:
            y = m[2]
    return np.sum(y * y) + np.sum(m)


def bound_to_a_row_perhaps(x):
    m, y = np.outer(x, x), x * 1.0
    for i in range(3):
        y += 6.0
        for _ in range(2):
            if x[0] > 0:
                y = m[2]
    return np.sum(y * y) + np.sum(m)


def bound_before_the_loop_that_changes_it(x):
    m, y = np.outer(x, x), x * 1.0
    for _ in range(2):
        if x[0] > 0:
            y = m[2]
    for _ in range(3):
        y += 1.0
    return np.sum(y * y) + np.sum(m)


@pytest.mark.parametrize("f", [bound_to_a_row_in_a_loop, bound_to_a_row_under_a_known_condition, bound_to_a_row_perhaps, bound_before_the_loop_that_changes_it])
def test_a_name_that_a_body_binds_to_a_view_changes_what_it_views(f):
    assert np.isclose(rg.jit(f)(five), f(five), rtol=1e-12)
