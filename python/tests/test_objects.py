"""Objects of users' classes that are one of several by a traced condition: read, called, changed, compared, held by others, the state of loops."""

import copy
import dataclasses

import numpy as np
import pytest
from oracle import check_by_differences

import retrograd as rg

X = np.array([0.7, -1.3, 2.1, 0.4])


class Particle:
    def __init__(self, place, speed):
        self.place, self.speed = place, speed

    def energy(self):
        return np.sum(self.place * self.place) + self.speed

    def kick(self, by):
        self.speed = self.speed + by

    def push(self, by):
        self.place += by

    @property
    def pace(self):
        return abs(self.speed)

    def __iadd__(self, by):
        self.speed = self.speed + by
        return self

    def __eq__(self, other):
        return self.speed > other.speed

    def __len__(self):
        return 3

    def __bool__(self):
        return False

    def __getitem__(self, k):
        return self.place[k]

    def __setitem__(self, k, value):
        self.place[k] = value

    def __contains__(self, value):
        return value > 1.0

    def __call__(self, value):
        return value * self.speed

    def __neg__(self):
        return -self.speed

    def __float__(self):
        return float(self.speed)


class Other(Particle):
    def energy(self):
        return 2.0 * np.sum(self.place) + self.speed**2


@dataclasses.dataclass
class Record:
    level: float
    row: np.ndarray


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def both(x):
    return Particle(x * 1.0, x[0]), Other(x * 2.0, x[1])


def total(*particles):
    return sum(np.sum(p.place * p.place) * (k + 1) + p.speed * (k + 2) for k, p in enumerate(particles))


def read(x):
    p, q = both(x)
    r = p if x[0] > 0 else q
    return np.sum(r.place * x) + r.speed + r.energy() + r.pace + r(x[3]) + r[1] - float(r)


def changed(x):
    p, q = both(x)
    if x[1] > 0:
        r = p
    else:
        r = q
    r.speed = x[2]
    r.speed += 1.0
    r.kick(x[3])
    r.push(x[2])
    r[1] = x[3] * 2.0
    r += x[0]
    p.place[0] += 1.0
    return total(p, q, r)


def special_methods(x):
    p, q = both(x)
    r = p if x[2] > 0 else q
    found = (1.0 if r == q else 2.0) * x[0] + (1.0 if q == r else 2.0) * x[1] + (1.0 if r != q else 2.0) * x[2]
    found += len(r) * x[3] + (1.0 if r else 2.0) * x[0] + (1.0 if x[2] in r else 2.0) - (-r)
    return found + (5.0 if r is p else 7.0) * x[1] + (1.0 if isinstance(r, Other) else 3.0) + (1.0 if hasattr(r, "speed") else 3.0) + getattr(r, "speed")


def records(x):
    p, q = Record(x[0], x * 1.0), Record(x[1], x * 2.0)
    r = p if x[0] > 0 else q
    r.level = r.level * 2.0
    setattr(r, "row", r.row * 3.0)
    return p.level + q.level * 3.0 + np.sum(p.row * x) + np.sum(q.row)


def slots(x):
    p, q = Slotted(x[0], x[1]), Slotted(x[2], x[3])
    r = p if x[0] > 0 else q
    r.a = r.b * 2.0
    return p.a + q.a * 3.0


def least(x):
    particles = [Particle(x * k, x[k]) for k in range(4)]
    best = particles[0]
    for p in particles[1:]:
        if p.energy() < best.energy():
            best = p
    slow = min(particles, key=lambda p: p.speed)
    slow.kick(5.0)
    return best.energy() + total(*particles)


def perhaps_found(x):
    hit = None
    for p in [Particle(x * k, x[k]) for k in range(3)]:
        if p.speed > 1.0 and hit is None:
            hit = p
    return hit.speed if hit is not None else x[0]


def returned_by_a_function(x):
    p, q = both(x)

    def pick():
        if x[0] > 0:
            return p
        return q

    pick().kick(3.0)
    return total(p, q)


def swapped(x):
    p, q = both(x)
    if x[0] > 0:
        p, q = q, p
    p.kick(2.0)
    (r, k) = (p, 1.0) if x[2] > 0 else (q, 2.0)
    return total(p, q) + r.speed * k


def state_of_a_loop(x):
    p, q = both(x)
    r = p
    for i in range(400):
        if r.speed > x[i % 4]:
            r = q
        else:
            r = p
        r.speed = r.speed * 0.99 + 0.01 * x[i % 4]
    return total(p, q) + r.speed


def state_of_a_while(x):
    p, q = both(x)
    k = 0
    while p.speed + q.speed < 3.03 and k < 100:
        r = p if p.speed < q.speed else q
        r.speed += 0.137
        k += 1
    return p.speed * x[0] + q.speed


def held_by_another(x):
    particles = [Particle(x * k, x[k]) for k in range(4)]
    box = Record(0.0, particles[0])
    for k in range(1, 4):
        if particles[k].speed > box.row.speed:
            box.row = particles[k]
    box.row.speed += 1.0
    pair = [box.row, particles[1]]
    pair[0].push(1.0)
    return total(*particles)


def met_in_turns(x):
    particles = [Particle(x * 1.0, v) for v in x]
    for t in range(20):
        a, b = particles[t % 4], particles[(t + 1) % 4]
        winner, loser = (a, b) if a.speed > b.speed else (b, a)
        winner.speed += 0.1 * loser.speed
        loser.speed -= 0.1 * loser.speed
    return total(*particles)


def at_a_traced_index(x):
    particles = [Particle(x * k, x[k]) for k in range(4)]
    k = np.argmin(x)
    particles[k].speed += 2.03
    for _ in range(30):
        particles[np.argmin(np.array([p.speed for p in particles]))].speed += 0.317
    return total(*particles) + (np.sin, np.cos, np.tanh, np.exp)[k](x[0]) * {"a": 1.0, "b": 2.0}[["a", "b", "a", "a"][k]]


def a_tree(x):
    left, right = Record(x[1], None), Record(x[2], None)
    root = Record(x[0], (left, right))
    node = root.row[0] if x[3] > 0 else root.row[1]
    return node.level * root.level


def lambdas(x):
    a, b = x[0], x[1]
    f = (lambda v: v * a) if x[2] > 0 else (lambda v: v + b)
    g, k, found = np.sin, 5.0, 0.0
    for i in range(300):
        found += g(x[i % 4])
        k = x[i % 4]
        g = lambda v: v * k
    return f(x[3]) + found


def a_cell_that_a_loop_binds_anew(x):
    k, found = 5.0, 0.0

    def times(v):
        return v * k

    for i in range(400):
        found += times(x[i % 4])
        k = x[i % 4]
    return found


class Base:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return self.v + 10.0 * other.v

    def __radd__(self, other):
        return self.v * 100.0

    def __sub__(self, other):
        return self.v - other.v

    def __lt__(self, other):
        return self.v < other.v

    def __gt__(self, other):
        return other.v < self.v - 5.0


class Derived(Base):
    def __radd__(self, other):
        return self.v * 1000.0 + other.v

    def __rsub__(self, other):
        return self.v * 7.0


def operators_of_a_subclass(x):
    a, b, c = Base(x[0]), Derived(x[1]), Derived(x[2])
    return a + b + (b + c) + (b + a) + (a - b) + (c - b) + (1.0 if a < b else 2.0) * x[3] + (1.0 if a > b else 2.0) * x[2] + (1.0 if b < c else 2.0) * x[1]


CASES = [
    operators_of_a_subclass, read, changed, special_methods, records, slots, least, perhaps_found, returned_by_a_function, swapped, state_of_a_loop, state_of_a_while, held_by_another, met_in_turns,
    at_a_traced_index, a_tree, lambdas, a_cell_that_a_loop_binds_anew,
]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_value_and_gradient(f):
    check_by_differences(f, X)


def made_in_a_loop(x):
    best = Particle(x * 1.0, x[0])
    for i in range(300):
        p = Particle(x * 0.5 * i, x[i % 4])
        best = p
    return best.energy()


def made_on_one_side(x):
    p = Particle(x * 1.0, x[0])
    if x[1] < 0:
        p = Particle(x * 2.0, x[1])
    return p.energy()


def a_copy(x):
    p, q = both(x)
    r = copy.copy(p if x[0] > 0 else q)
    r.speed = 9.0
    return total(p, q)


def a_function_made_anew(x):
    def times(k):
        return lambda v: v * k

    f, found = np.sin, 0.0
    for i in range(300):
        found += f(x[i % 4])
        f = times(x[i % 4])
    return found


REFUSED = {made_in_a_loop: "made inside a loop", made_on_one_side: "differs in kind", a_copy: "differs in kind", a_function_made_anew: "made inside a loop"}


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_a_body_makes_is_another_object_each_time(f):
    with pytest.raises(rg.Unsupported if f is not made_on_one_side and f is not a_copy else rg.Error, match=REFUSED[f]):
        rg.grad(f)(X)


FIRST, SECOND = Particle(np.ones(4), 2.0), Particle(np.zeros(4), 3.0)


def test_objects_from_outside_are_read_and_not_changed():
    def reads(x):
        r = FIRST if x[0] > 0 else SECOND
        return r.speed * x[1] + np.sum(r.place * x)

    def writes(x):
        r = FIRST if x[0] > 0 else SECOND
        r.speed = 5.0
        return r.speed * x[1]

    check_by_differences(reads, X)
    with pytest.raises(rg.Unsupported, match="lives outside of the function"):
        rg.grad(writes)(X)
    assert FIRST.speed == 2.0


def test_a_list_that_is_one_of_several_is_changed_as_a_copy():
    def changed(x):
        xs = [x[0], x[1]]
        if x[0] > 0:
            xs = [v * 2.0 for v in xs]
        xs[0] = x[3]
        return sum(xs)

    def copied(x):
        xs = [x[0], x[1]]
        if x[0] > 0:
            xs = [v * 2.0 for v in xs]
        xs = list(xs)
        xs[0] = x[3]
        return sum(xs)

    check_by_differences(copied, X)
    with pytest.raises(rg.Unsupported, match="one of several by a traced condition, or that a loop bound anew"):
        rg.jit(changed)(X)
