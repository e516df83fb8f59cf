"""Everything that can be called can be differentiated, wherever it comes from: values and gradients of each form, by hand."""

import collections
import dataclasses
import functools
import itertools
import logging
import math
import operator
import subprocess
import sys
import textwrap
import threading
import types

import numpy as np
import pytest

import retrograd as rg

x = np.array([1.0, 2.0, 3.0])


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found, float), expected, rtol=1e-12, atol=1e-12)


first, second = (lambda x: np.sum(x**2)), (lambda x: np.sum(x**3))
by_name = {"a": lambda x: np.sum(np.sin(x)), "b": lambda x: np.sum(np.cos(x))}
by_default = [lambda x, k=k: np.sum(k * x) for k in range(3)]
by_closure = [lambda x: np.sum(k * x) for k in range(3)]
curried = lambda a: lambda x: lambda y: np.sum(a * x * y)
alike = (lambda x: x if x > 5 else x**2, lambda x: x * 7 if x > 0 else x)


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


@doubled
@doubled
def decorated(x):
    s = 0.0
    for i in range(3):
        s = s + x[i] ** 2
    return s


def of_many(a, b, c=1.0, *, d=2.0):
    return np.sum(a * b) * c * d


class Model:
    scale = 3.0

    def __init__(self):
        self.v = np.arange(3.0)

    def method(self, x):
        return np.sum(x**2 * self.v)

    @classmethod
    def of_class(cls, x):
        return np.sum(cls.scale * x)

    @staticmethod
    def static(x):
        return np.sum(x**2)

    def __call__(self, x):
        return np.sum(x * self.v)

    @property
    def total(self):
        return np.sum(self.v)

    @functools.cached_property
    def five(self):
        return 5.0

    def __private(self, x):
        return np.sum(x)

    def public(self, x):
        return self.__private(x) * self.total * self.five

    bound = functools.partialmethod(method)

    @functools.singledispatchmethod
    def by_type(self, x):
        return np.sum(x)

    @by_type.register
    def _(self, x: float):
        return x**3


@functools.singledispatch
def by_type(x):
    return np.sum(x**2)


@by_type.register
def _(x: float):
    return x**3


@functools.lru_cache
def cached(x):
    return x * x


def power(n, x):
    return 1.0 if n == 0 else x * power(n - 1, x)


def even(n, x):
    return x if n == 0 else odd(n - 1, x * 2)


def odd(n, x):
    return x if n == 0 else even(n - 1, x + x)


def by_class(x):
    match x:
        case float(y) if y > 100.0:
            return y
        case float():
            return x**2
        case np.ndarray(ndim=1) as z:
            return np.sum(z)
        case _:
            return x**3


def squares(x):
    for v in x:
        yield v**2


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __rmul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __iter__(self):
        yield self.x
        yield self.y

    def __len__(self):
        return 2

    def __iadd__(self, other):
        self.x = self.x + other.x
        return self


def of_vectors(t):
    v = Vector(t, 2 * t) + 3.0 * Vector(t, t)  # (4t, 5t)
    v += Vector(t, t)  # (5t, 5t)
    a, b = v
    return (v @ -v) + v[0] * len(v) + a * b  # 10 t - 25 t^2


class Twice:
    def __get__(self, owner, kind):
        return 2.0 * owner.w


class Described:
    twice = Twice()
    w = 3.0


model = Model()
namespace = {"np": np}
exec("def made(x):\n    s = 0.0\n    for i in range(3):\n        s = s + x[i]**2\n    return s\nalso = lambda x: np.sum(x**2)", namespace)

CASES = {
    "two lambdas on a line": (lambda: rg.grad(first)(x) + rg.grad(second)(x), 2 * x + 3 * x**2),
    "a lambda of a dict": (lambda: rg.grad(by_name["b"])(x), -np.sin(x)),
    "a default": (lambda: rg.grad(by_default[2])(x), [2, 2, 2]),
    "a closure": (lambda: rg.grad(by_closure[0])(x), [2, 2, 2]),
    "curried": (lambda: rg.grad(curried(2.0)(x))(x), 2 * x),
    "a lambda as default": (lambda: rg.grad(lambda x, h=lambda z: z**2: np.sum(h(x)))(x), 2 * x),
    "lambdas of a line that branch": (lambda: [rg.grad(f)(3.0) for f in alike], [6, 7]),
    "walrus": (lambda: rg.grad(lambda x: (y := x * 2) * y)(3.0), 24),
    "partial": (lambda: rg.grad(functools.partial(of_many, x))(x), 2 * x),
    "partial of partial": (lambda: rg.grad(functools.partial(functools.partial(of_many, x), d=3.0))(x, 2.0), 6 * x),
    "partial by keyword": (lambda: rg.grad(functools.partial(of_many, b=x))(x), 2 * x),
    "method": (lambda: rg.grad(model.method)(x), 2 * x * model.v),
    "method of an argument": (lambda: rg.grad(Model.method, argnums=1)(model, x), 2 * x * model.v),
    "partialmethod": (lambda: rg.grad(model.bound)(x), 2 * x * model.v),
    "classmethod": (lambda: rg.grad(Model.of_class)(x), [3, 3, 3]),
    "staticmethod": (lambda: rg.grad(model.static)(x), 2 * x),
    "callable object": (lambda: rg.grad(model)(x), model.v),
    "private names and properties": (lambda: rg.grad(model.public)(x), [15, 15, 15]),
    "wraps": (lambda: rg.grad(decorated)(x), 8 * x),
    "lru_cache": (lambda: rg.grad(cached)(3.0), 6),
    "singledispatch of arrays": (lambda: rg.grad(by_type)(x), 2 * x),
    "singledispatch of numbers": (lambda: rg.grad(by_type)(2.0), 12),
    "singledispatch inside": (lambda: rg.grad(lambda x: 2 * by_type(x))(2.0), 24),
    "singledispatchmethod": (lambda: rg.grad(lambda x: model.by_type(x))(2.0), 12),
    "ufunc": (lambda: rg.grad(np.sin)(0.5), np.cos(0.5)),
    "np.sum": (lambda: rg.grad(np.sum)(x), [1, 1, 1]),
    "np.linalg.norm": (lambda: rg.grad(np.linalg.norm)(x), x / np.linalg.norm(x)),
    "np.add.reduce": (lambda: rg.grad(np.add.reduce)(x), [1, 1, 1]),
    "operator": (lambda: rg.grad(operator.mul)(2.0, 3.0), 3),
    "math": (lambda: rg.grad(math.sin)(0.5), np.cos(0.5)),
    "builtins": (lambda: [rg.grad(abs)(-2.0), rg.grad(pow)(2.0, 3.0), rg.grad(max)(2.0, 3.0), rg.grad(max)(4.0, 3.0)], [-1, 12, 0, 1]),
    "sum": (lambda: rg.grad(sum)(x), [1, 1, 1]),
    "map": (lambda: rg.grad(lambda x: sum(map(lambda v: v**2, x)))(x), 2 * x),
    "filter": (lambda: rg.grad(lambda x: sum(x[i] for i in filter(lambda i: i % 2 == 0, range(3))))(x), [1, 0, 1]),
    "reduce": (lambda: rg.grad(lambda x: functools.reduce(operator.mul, x))(x), [6, 3, 2]),
    "itertools": (lambda: rg.grad(lambda x: sum(a * b for a, b in itertools.combinations(x, 2)))(x), [5, 4, 3]),
    "accumulate": (lambda: rg.grad(lambda x: sum(itertools.accumulate(x)))(x), [3, 2, 1]),
    "generator": (lambda: rg.grad(lambda x: sum(squares(x)))(x), 2 * x),
    "operators of a class": (lambda: rg.grad(of_vectors)(2.0), -90),
    "recursion by an integer": (lambda: rg.grad(power, argnums=1)(4, 2.0), 32),
    "two that call each other": (lambda: rg.grad(even, argnums=1)(3, 2.0), 8),
    "match by class": (lambda: [rg.grad(by_class)(2.0), *rg.grad(by_class)(x)], [4, 1, 1, 1]),
    "__class__": (lambda: rg.grad(lambda x: x**2 if x.__class__ is float else x**3)(2.0), 4),
    "descriptor": (lambda: rg.grad(lambda x: x * Described().twice)(2.0), 6),
    "star arguments": (lambda: rg.grad(lambda *a, **k: a[0] * a[1] * k["b"])(2.0, 3.0, b=4.0), 12),
    "exec": (lambda: rg.grad(namespace["made"])(x), 2 * x),
    "a lambda of exec": (lambda: rg.grad(namespace["also"])(x), 2 * x),
    "object result": (lambda: list(rg.jit(lambda t: Vector(t, 2 * t))(3.0)), [3, 6]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_callable(name):
    thunk, expected = CASES[name]
    close(thunk(), expected)


Pair = collections.namedtuple("Pair", "u v")


@dataclasses.dataclass
class Point:
    u: np.ndarray
    v: float = 2.0


@pytest.mark.parametrize(
    "made, read",
    [
        (lambda u: {"u": u}, lambda p: p["u"]),
        (lambda u: collections.OrderedDict(u=u), lambda p: p["u"]),
        (lambda u: collections.defaultdict(float, u=u), lambda p: p["u"]),
        (lambda u: collections.deque([u, u]), lambda p: p[0]),
        (lambda u: types.SimpleNamespace(u=u, name="s"), lambda p: p.u),
        (lambda u: Pair(u, None), lambda p: p.u),
        (lambda u: Point(u), lambda p: p.u),
        (lambda u: Vector(u, [u, {"w": u}]), lambda p: p.x),
        (lambda u: [(u, "static", np.sin)], lambda p: p[0][0]),
    ],
)
def test_arguments_are_nested_in_whatever_people_use(made, read):
    gradient = rg.grad(lambda p: np.sum(read(p) ** 2))(made(x))
    assert type(gradient) is type(made(x))
    close(read(gradient), 2 * x)


def test_objects_as_arguments_are_read_at_each_call_and_never_changed():
    class Counting:
        def __init__(self):
            self.w, self.count, self.lock, self.log = 3.0, 0, threading.Lock(), logging.getLogger("x")

        def __call__(self, x):
            self.count = self.count + 1
            return x * self.w * self.count

    g, counting = rg.grad(lambda x, c: c(x)), Counting()
    assert g(2.0, counting) == 3.0 and counting.count == 0
    counting.w = 4.0
    assert g(2.0, counting) == 4.0

    class Cyclic:
        def __init__(self):
            self.me = self

    with pytest.raises(rg.ArgumentError, match="argument `c` of .* refers to itself"):
        rg.grad(lambda x, c: x)(1.0, Cyclic())
    with pytest.raises(rg.ArgumentError, match=r"argument `c.lock` of .* found lock"):
        rg.grad(lambda c, x: c(x))(counting, 1.0)


def test_recursion_that_ends_by_a_traced_number_is_refused():
    def halved(x):
        return x if x < 1.0 else halved(x / 2)

    with pytest.raises(rg.Unsupported, match="calls itself until a condition holds that is known only when it runs"):
        rg.grad(halved)(8.0)


@pytest.mark.parametrize("way", ["-c", "-", "doctest"])
def test_without_a_file(way):
    code = "import numpy as np, retrograd as rg\ndef f(x):\n    return np.sum(np.where(x > 1, x**2, x))\nprint(rg.grad(f)(np.arange(3.0)).tolist())\n"
    if way == "doctest":
        body = "".join(f">>> {line}\n" if not line.startswith(" ") else f"... {line}\n" for line in code.rstrip().splitlines())
        code = f"import doctest, sys, types\nm = types.ModuleType('m')\nm.__doc__ = {body!r} + '[1.0, 1.0, 4.0]\\n'\nprint(doctest.testmod(m).failed or [1.0, 1.0, 4.0])"
        way = "-c"
    done = subprocess.run([sys.executable, way, *([code] if way == "-c" else [])], input=textwrap.dedent(code), capture_output=True, text=True)
    assert done.stdout.strip() == "[1.0, 1.0, 4.0]", done.stderr


def test_eight_threads_call_and_compile_the_same_and_different_functions():
    shared = rg.value_and_grad(lambda x, k: np.sum(np.sin(k * x) ** 2))
    wrong = []

    def work(number):
        generator = np.random.default_rng(number)
        for turn in range(6):
            size = int(generator.integers(1, 5))
            y, k = generator.normal(size=size), float(generator.normal())
            value, gradient = shared(y, k)
            own = rg.grad(lambda z: np.sum(z ** (2 + number % 3)))(y)
            n = 2 + number % 3
            same = np.allclose(value, np.sum(np.sin(k * y) ** 2)) and np.allclose(gradient, k * np.sin(2 * k * y)) and np.allclose(own, n * y ** (n - 1))
            if not same:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
