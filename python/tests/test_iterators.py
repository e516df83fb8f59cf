"""Iterators, generators and keys: what is gone through once, what a key is, what an order is by; of plain Python, or an error."""

import collections
import copy
import functools
import itertools
import math

import numpy as np
import pytest

import retrograd as rg

X = np.array([0.7, -1.3, 2.1, 0.4])


def check(f, k=1):
    """The value of `f(x, k)` is that of the plain function, also beside a gradient that differences confirm."""
    expected = f(X.copy(), k)
    assert rg.jit(f)(X.copy(), k) == pytest.approx(expected, rel=1e-12)
    value, gradient = rg.value_and_grad(f)(X.copy(), k)
    assert value == pytest.approx(expected, rel=1e-12)
    for found, direction in zip(gradient, np.eye(4)):
        assert found == pytest.approx((f(X + 1e-6 * direction, k) - f(X - 1e-6 * direction, k)) / 2e-6, abs=1e-5)


# Keys: a number is one by its value, whether an argument, an index or what was computed of them.


class Memo:
    def __init__(self):
        self.known = {}

    def fibonacci(self, n):
        if n not in self.known:
            self.known[n] = n if n < 2 else self.fibonacci(n - 1) + self.fibonacci(n - 2)
        return self.known[n]


def counted(x):
    found = {}
    for i in range(4):
        found[i // 2, "row"] = found.get((i // 2, "row"), 0.0) + x[i]
    return found[0, "row"] * found[1, "row"]


def differences(x):
    table = {(0, n): x[n] for n in range(4)}
    for order in range(1, 4):
        for n in range(4 - order):
            table[order, n] = table[order - 1, n + 1] - table[order - 1, n]
    return table[3, 0] * table[1, 1]


def by_names(x):
    found = collections.defaultdict(float)
    for i in range(4):
        found["odd" if i % 2 else "even"] += x[i]
    return found["odd"] * found["even"] + len(found)


KEYS = {
    "get": lambda x, k: x[0] * {0: 1.0, 1: 2.0}.get(k, 100.0),
    "get of a tuple": lambda x, k: x[0] * {(0, 1): 1.0, (1, 1): 2.0}.get((k, 1), 100.0),
    "item": lambda x, k: x[0] * {(0, 1): 1.0, (1, 1): 2.0}[k, 1],
    "in a set": lambda x, k: x[0] * (1.0 if k in {0, 1} else 50.0),
    "tuple in a dict": lambda x, k: x[0] * (1.0 if (k, 1) in {(1, 1): 2} else 50.0),
    "display": lambda x, k: x[0] * sum({k: 1.0, 1: 2.0}.values()),
    "set display": lambda x, k: x[0] * len({k, 1, np.int64(k), 1.0}),
    "comprehension": lambda x, k: x[0] * len({q: q for q in (k, 1)}),
    "dict": lambda x, k: x[0] * len(dict([(k, 2.0), (1, 3.0)])),
    "frozenset": lambda x, k: x[0] * len(frozenset((k, 1))),
    "Counter": lambda x, k: x[0] * collections.Counter([k, 1, 1])[1],
    "pop": lambda x, k: x[0] * {1: 2.0}.pop(k, 100.0),
    "set operations": lambda x, k: x[0] * len({1, 2} & {k}) + len({1, 2} - {k}),
    "narrow": lambda x, k: x[0] * {1: 4.0}.get(np.uint8(k), 1.0),
    "f-string": lambda x, k: x[0] * {"a1": 4.0}.get(f"a{k}", 1.0),
    "f-string compared": lambda x, k: x[0] * (2.0 if f"a{k}" == "a1" else 1.0),
    "joined strings": lambda x, k: x[0] * {"a1": 4.0}.get("a" + str(k), 1.0),
    "memo": lambda x, k: x[0] * Memo().fibonacci(k + 7),
    "counted": lambda x, k: counted(x),
    "differences": lambda x, k: differences(x),
    "strings by an index": lambda x, k: by_names(x),
}


@pytest.mark.parametrize("f", KEYS.values(), ids=KEYS)
def test_a_number_is_a_key_by_its_value(f):
    check(f)


def test_a_key_that_is_known_only_when_the_program_runs_is_refused():
    for f in (lambda x: x[0] * {0.7: 2.0}.get(x[0], 1.0), lambda x: x[0] * len({x[0], x[1]}), lambda x: x[0] * len({x[0]: 1.0})):
        with pytest.raises(rg.Unsupported, match="use as a key"):
            rg.grad(f)(X)


# Orders.

ORDERS = {
    "min by key": lambda x, k: min(x, key=abs) * 3.0,
    "max by key": lambda x, k: max([(1.0, x[:2]), (2.0, x[2:])], key=lambda pair: pair[1].sum())[1] @ np.array([1.0, 3.0]),
    "argmax by key": lambda x, k: x[max(range(4), key=lambda j: x[j])] * 2.0,
    "the first of equal ones": lambda x, k: max([(1, x[0]), (2, x[0])], key=lambda t: t[1])[0] * x[1],
    "sorted by key": lambda x, k: sum(i * v for i, v in enumerate(sorted(x, key=abs))),
    "reversed, stable": lambda x, k: sum(i * j * v for i, (v, j) in enumerate(sorted([(x[0], 0), (x[1], 1), (x[2], 2), (x[0], 3)], key=lambda t: t[0], reverse=True))),
    "sorted dicts": lambda x, k: sorted([{"a": x[0], "v": x[:2]}, {"a": x[1], "v": x[2:]}], key=lambda d: d["a"])[0]["v"] @ np.array([1.0, 3.0]),
    "map of max": lambda x, k: max(map(max, [[x[0], x[1]], [x[2], x[3]]])),
    "reduce of max": lambda x, k: functools.reduce(max, x) * 2.0,
    "in an array": lambda x, k: (x[0] if 2.1 in x else x[1]) + (1.0 if 77 in x else 2.0),
}


@pytest.mark.parametrize("f", ORDERS.values(), ids=ORDERS)
def test_orders_are_by_what_is_known_when_the_program_runs(f):
    check(f)


def test_an_order_of_nan_is_an_error():
    with pytest.raises(ValueError, match="sorted\\(\\) of NaN"):
        rg.grad(lambda x: sorted([3.0, x[0] * np.nan, x[1]])[1])(X)


# Generators are read: what they compute is traced, what they change is seen.


def accumulated(x, k):
    def steps():
        y = np.zeros(2)
        for v in x:
            y[0] += v
            yield y.copy()

    return sum(y.sum() for y in steps())


class Walker:
    def __init__(self):
        self.total = 0.0

    def walk(self, x):
        for v in x:
            self.total += v
            yield self.total * 2


def walked(x, k):
    walker = Walker()
    return sum(walker.walk(x)) * walker.total


def partly(x, k):
    def both():
        for v in x:
            yield v
            yield v * 2

    steps = both()
    total = next(steps) + next(steps)
    for v in steps:
        total = total + 10.0 * v
    return total


def sent(x, k):
    def adder():
        total = 0.0
        while True:
            v = yield total
            total = total + v

    steps = adder()
    next(steps)
    steps.send(x[0])
    return steps.send(x[1])


def runge_kutta(x, k):
    def steps(y, h):
        t = 0.0
        for _ in range(4):
            y, t = y + h * (t - y), t + h
            yield t, y

    *_, (t, y) = steps(x, 0.1)
    return y.sum() * t


class Countdown:
    def __init__(self, n):
        self.n, self.asked = n, 0

    def __iter__(self):
        self.left = self.n
        return self

    def __next__(self):
        self.asked += 1
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left + 0.5


def twice(x, k):
    steps, total = Countdown(3), 0.0
    for v in steps:
        total = total + v * x[1]
    for v in steps:
        total = total + v * x[2]
    return total * steps.asked


def table_of_sums(x, k):
    def partial(f, n):
        total = 0
        for j in range(n):
            total += f(j)
            yield total

    sums = list(partial(lambda j: x[0] ** j / (j + 1.0), 5))
    table = {(0, n): v for n, v in enumerate(sums)}
    for order in range(1, len(sums)):
        for n in range(len(sums) - order):
            table[order, n] = table[order - 1, n + 1] - 0.5 * table[order - 1, n]
    return table[4, 0]


@pytest.mark.parametrize("f", (accumulated, walked, partly, sent, runge_kutta, twice, table_of_sums), ids=lambda f: f.__name__)
def test_generators_are_read(f):
    check(f)


# How far an iterator is, where a traced condition may have ended the loop over it.


def moved_on(x):
    steps = iter([x[0], x[1], x[2]])
    for v in steps:
        if v < 0:
            break
    return next(steps, 100.0)


def summed_rest(x):
    steps = (v * 2 for v in x)
    for v in steps:
        if v < 0:
            break
    return sum(steps) + x[0]


def looped_rest(x):
    steps, total = (v * 2 for v in x), 0.0
    for v in steps:
        if v < 0:
            break
    for v in steps:
        total = total + v
    return total


def counted_steps(x):
    count = 0

    def steps():
        nonlocal count
        for v in x:
            count += 1
            yield v

    for v in steps():
        if v > 1:
            break
    return count * x[0]


def logged_steps(x):
    log = []

    def steps():
        for v in x:
            log.append(v)
            yield v

    for v in steps():
        if v > 1:
            break
    return sum(log)


def changed_array(x):
    def steps():
        y = np.zeros(2)
        for v in x:
            y[0] += v
            yield y

    for y in steps():
        if y[0] < 0:
            break
    return y.sum()


def endless(x):
    def steps():
        a = x[0]
        while True:
            a = a * 0.5
            yield a

    for a in steps():
        if a < 0.1:
            break
    return a


def rest_of_an_enumerate(x):
    steps = enumerate(x)
    for _, v in steps:
        if v > 1:
            break
    return sum(v for _, v in steps) + x[0]


def asked_whether_any(x):
    steps = iter([x[1], x[0], x[2]])
    return x[0] if any(v > 0 for v in steps) else sum(steps)


def asked_whether_in(x):
    steps = iter([x[1], x[0], x[2]])
    return (x[0] in steps) + sum(steps)


def logged_by_any(x):
    log = []

    def big(v):
        log.append(v)
        return v > 0.5

    return sum(log) if any(big(v) for v in x) else x[0]


def taken_inside_of_its_loop(x):
    pairs, total = zip(x, x), 0.0
    for a, _ in pairs:
        total += a * next(pairs)[1]
    return total


def part_of_another(x):
    pairs = zip(x, x[1:])
    numbered = enumerate(pairs)
    return next(numbered)[0] + next(pairs)[0]


def copied(x):
    steps = iter([x[0], x[1]])
    return next(copy.copy(steps)) + next(steps)


FOREIGN = iter([1.0, 2.0])


def from_outside(x):
    return x[0] * sum(FOREIGN)


def from_outside_taken_apart(x):
    a, b = FOREIGN
    return x[0] * a * b


def as_a_default(x):
    def total(steps=FOREIGN):
        return sum(steps)

    return x[0] * total()


OPEN = {
    moved_on: "how far it is", summed_rest: "how far it is", looped_rest: "how far it is", counted_steps: "a change of a cell", logged_steps: "a change of a list",
    changed_array: "in-place change", endless: "more than 1000 steps", rest_of_an_enumerate: "how far", asked_whether_any: "how far it is", asked_whether_in: "how far it is",
    logged_by_any: "a change of a list", taken_inside_of_its_loop: "how far", part_of_another: "how far", copied: "copy of an iterator",
    from_outside: "lives outside", from_outside_taken_apart: "lives outside", as_a_default: "lives outside",
}


@pytest.mark.parametrize("f", OPEN, ids=lambda f: f.__name__)
def test_what_depends_on_how_far_an_iterator_is_is_refused(f):
    for function in (rg.jit(f), rg.grad(f)):
        with pytest.raises(rg.Unsupported, match=OPEN[f]):
            function(X.copy())


# An iterator that is made before a loop is used up in its first step, whoever goes through it.


def over(x):
    """Iterators of each kind over the elements."""
    return {
        "list": iter([x[0], x[1], x[2], x[3]]), "array": iter(x), "generator": (v for v in x), "map": map(lambda v: v * v, x), "reversed": reversed(x), "flat": x.reshape(2, 2).flat,
        "zip": map(sum, zip(x, x[::-1])), "enumerate": map(sum, enumerate(x)), "values": iter({"a": x[0], "b": x[1]}.values()), "chain": itertools.chain(x[:2], [x[2]]),
    }


def looped(steps):
    total = 0.0
    for v in steps:
        total = total + v
    return total


def extended(steps):
    found = [1.0]
    found.extend(steps)
    found += steps
    return sum(found)


USES = {
    "next": lambda steps: next(steps, 5.0), "sum": sum, "list": lambda steps: len(list(steps)), "array": lambda steps: np.array(list(steps)).sum(), "loop": looped,
    "max": lambda steps: max(steps, default=7.0), "sorted": lambda steps: len(sorted(steps)), "display": lambda steps: sum([*steps, 2.0]), "call": lambda steps: (lambda *items: len(items))(*steps),
    "extend": extended, "fromiter": lambda steps: np.fromiter(steps, float).sum(), "dict": lambda steps: len(dict(zip("abcd", steps))), "prod": math.prod, "fsum": math.fsum,
    "reduce": lambda steps: functools.reduce(lambda a, b: a + 2 * b, steps, 1.0), "islice": lambda steps: sum(itertools.islice(steps, 2)), "zip": lambda steps: sum(a * b for a, b in zip(steps, steps)),
    "deque": lambda steps: len(collections.deque(steps)), "accumulate": lambda steps: sum(itertools.accumulate(steps)), "comprehension": lambda steps: sum([v * v for v in steps]),
    "set": lambda steps: len({k for k, _ in zip(range(9), steps)}), "tuple": lambda steps: sum((*steps, 1.0)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", over(X))
def test_an_iterator_is_used_up_once(kind, use):
    def f(x, k):
        steps, total = over(x)[kind], 0.0
        for i in range(3):
            total += USES[use](steps) * (i + 1) + i * x[0]
        return total + sum(steps) * 100

    check(f)


def zip_twice(x, k):
    pairs, total = zip(x, x[1:]), 0.0
    for _ in range(3):
        for a, b in pairs:
            total += a * b
    return total


def reversed_twice(x, k):
    steps, total = reversed(x), 0.0
    for v in steps:
        total = total * 2 + v
    for v in steps:
        total += 1000.0
    return total


def begun(x, k):
    pairs = zip(x, x[1:])
    a, b = next(pairs)
    for i, (c, d) in enumerate(pairs):
        a = a + c * d * i
        if i == 1:
            break
    return a * b + len(list(pairs))


def found_in(x, k):
    steps, total = iter([1, 2, 3, 4]), 0.0
    for i in range(3):
        total += x[i] * (2.0 if 2 in steps else 1.0)
    return total


def in_pairs(x, k):
    steps, total = iter([x[0], x[1], x[2], x[3]]), 0.0
    for i in range(2):
        a, b = itertools.islice(steps, 2)
        total += a * b * (i + 1)
    return total


def sent_what_is_known(x, k):
    def steps():
        at = 0
        while True:
            at += yield x[at]

    found, total = steps(), 0.0
    next(found)
    for i in range(3):
        total += found.send(1) * (i + 1)
    return total


def two_of_one(x, k):
    first, second = itertools.tee([x[0], x[1], x[2]])
    next(second)
    return sum(a * b for a, b in zip(first, second))


def in_groups(x, k):
    groups, total = itertools.groupby(range(4), key=lambda i: i // 2), 0.0
    for _ in range(2):
        number, group = next(groups)
        total += sum(x[i] for i in group) * (number + 1)
    return total


def any_with_locals(x, k):
    def big(v):
        y, kept = np.zeros(2), []
        y[0] = v
        kept.append(y.sum())
        return kept[0] > 2.0

    return x[0] * (2.0 if any(big(v) for v in x) else 3.0) + (1.0 if any(any(v > 2 for v in row) for row in (x[:2], x[2:])) else 0.0)


@pytest.mark.parametrize("f", (zip_twice, reversed_twice, begun, found_in, in_pairs, sent_what_is_known, two_of_one, in_groups, any_with_locals), ids=lambda f: f.__name__)
def test_how_far_an_iterator_is_is_known(f):
    check(f)


# Iterators and iterables of the user's classes are read, whoever goes through them.


class Steps:
    def __init__(self, n):
        self.n, self.taken = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.taken >= self.n:
            raise StopIteration
        self.taken += 1
        return self.taken * 1.0


class Logged:
    def __init__(self, values):
        self.values, self.asked = values, 0

    def __iter__(self):
        self.asked += 1
        for v in self.values:
            self.asked += 1
            yield v


class Indexed:
    def __init__(self, values):
        self.values, self.asked = values, 0

    def __getitem__(self, k):
        self.asked += 1
        return self.values[k]


@pytest.mark.parametrize("use", USES)
def test_an_iterator_of_a_class_is_used_up_once(use):
    def f(x, k):
        steps, total = Steps(4), 0.0
        for i in range(3):
            total += USES[use](steps) * x[i] + i * x[0]
        return total + steps.taken * x[1]

    check(f)


@pytest.mark.parametrize("kind", (Logged, Indexed))
@pytest.mark.parametrize("use", [use for use in USES if use not in ("next", "zip")])
def test_what_an_iterable_of_a_class_counts_is_seen(kind, use):
    def f(x, k):
        steps, total = kind([x[0], x[1], x[2], x[3]]), 0.0
        for i in range(3):
            total += USES[use](steps) * (i + 1)
        if x[0] > 0:
            total += sum(steps)
        return total + steps.asked * x[1]

    check(f)


def test_a_generator_goes_through_an_iterable_of_a_class():
    def f(x, k):
        steps = Logged([x[0], x[1]])

        def all_steps():
            try:
                yield from steps
            except ValueError:
                yield x[3]
            yield x[2]

        first, *rest = steps
        total = sum(all_steps()) + first * sum(rest)
        for i in range(3):
            total += x[i] * (2.0 if 2.0 in Steps(2 * i) else 1.0)
        return total * steps.asked

    check(f)


def test_an_iterator_under_a_condition_moves_on_where_that_is_known():
    def f(x, k):
        steps = iter([x[0], x[1], x[2]])
        total = next(steps) if x[0] * k > 0 else 0.0
        return total + 10.0 * next(steps)

    assert rg.jit(f)(X.copy(), 1) == f(X, 1) and rg.jit(f)(-X, 1) == f(-X, 1)
    with pytest.raises(rg.Unsupported, match="from outside in a loop or branch"):
        rg.grad(f)(X.copy(), 1)


def test_a_loop_over_a_generator_may_end_by_a_traced_condition():
    def f(x, k):
        def steps():
            for i in range(5):
                yield x[i % 4] * i

        for v in steps():
            if v > 1:
                break
        return v

    check(f)


def test_what_is_gone_through_once_may_be_gone_through_anew():
    def f(x, k):
        total = 0.0
        for i in range(3):
            for a, b in zip(x, x[i:]):
                total += a * b
            for j, (a, b) in enumerate(zip(x, x * 2)):
                total += a * b * j
        steps = iter(x)
        return total + sum(a * b for a, b in list(zip(steps, steps))) + sum(itertools.islice(itertools.count(), 3))

    check(f)


# Special methods of the user's classes are read, too.


class Score:
    def __init__(self, value):
        self.value, self.asked = value, 0

    def __lt__(self, other):
        self.asked += 1
        if self.value < other.value:
            return True
        return False

    def __neg__(self):
        z = np.zeros(2)
        z[0] = self.value
        return Score(-z.sum())

    def __eq__(self, other):
        return self.value == other.value

    def __len__(self):
        self.asked += 1
        return 2

    def __abs__(self):
        return self.value if self.value > 0 else -self.value

    def __float__(self):
        return float(self.value) * 2

    @functools.cached_property
    def square(self):
        self.asked += 1
        return self.value**2


def compared(x, k):
    a, b = Score(x[0]), Score(x[1])
    chosen = x[2] if a < b else x[3]
    return chosen + a.asked * 10 + (-a).value + float(b) + len(a) + a.asked * 100 + abs(b) + 1000.0 * (a == b) + 5.0 * (a != b)


def cached(x, k):
    score = Score(x[0])
    return score.square + score.square + score.asked


class Settings:
    def __init__(self, **values):
        self.__dict__.update(values)


def settled(x, k):
    settings = Settings(a=x[0], n=2)
    return settings.a * settings.n


def left_by_else(x, k):
    total = 0.0
    for i in range(4):
        for j in range(4):
            if x[i] * x[j] > 1:
                break
            total += x[i] * j
        else:
            continue
        total += 100 * x[j]
        if i == 2:
            break
    return total


def grows_never(x, k):
    kept = [x[3]]
    for _ in range(5):
        if x[0] < -1.0:
            return x[1]
        if k % 2 != 0:
            kept.append(x[0])
    return np.sum(x) + sum(kept)


@pytest.mark.parametrize("k", (0, 1))
@pytest.mark.parametrize("f", (compared, cached, settled, left_by_else, grows_never), ids=lambda f: f.__name__)
def test_methods_and_ways_out_are_those_of_python(f, k):
    check(f, k)
