"""Functions of the host: how often they are called, what is kept of them, and what they raise."""

import threading

import numpy as np
import pytest

import retrograd as rg

x = np.array([1.0, 2.0, 3.0])


class Sine:
    """The sine as a function of the host that counts; `pulled` counts its rule."""

    def __init__(self, **options):
        self.called, self.pulled, self.threads = 0, 0, set()
        self.external = rg.external(self.forward, result=lambda x: x, vjp=self.backward, **options)

    def forward(self, x):
        self.called += 1
        self.threads.add(threading.get_ident())
        return np.sin(x)

    def backward(self, args, y, ct):
        self.pulled += 1
        assert np.array_equal(y, np.sin(args[0]))
        return (ct * np.cos(args[0]),)

    def __call__(self, x):
        return self.external(x)

    def counts(self):
        found = self.called, self.pulled
        self.called = self.pulled = 0
        return found


def straight(f, x):
    return np.sum(f(x) ** 2 + f(2 * x))


def loop(f, x):
    for _ in range(5):
        x = f(x) + 0.1 * x
    return np.sum(x)


def nest(f, x):
    for i in range(3):
        for j in range(2):
            x = f(x) * 0.5 + x
        x = x * f(x)[0]
    return np.sum(x)


def branches(f, x):
    for i in range(6):
        if x[0] > 0.5:
            x = f(x) - 0.2
        else:
            x = 2.0 * x
    return np.sum(x)


def stream(f, x):
    total = 0.0
    for row in np.stack([x, 2 * x, 3 * x]):
        total = total + np.sum(f(row) * row)
    return total


def mapped(f, x):
    return np.sum(rg.vmap(f)(np.stack([x, 2 * x])))


@pytest.mark.parametrize("function, calls", [(straight, 2), (loop, 5), (nest, 9), (stream, 3), (mapped, 2)])
@pytest.mark.parametrize("options", [{}, {"strategy": "recompute_all"}, {"strategy": "keep_all"}, {"budget": 6000}, {"threads": 2}])
def test_it_is_called_once_per_execution_and_never_on_a_replay(function, calls, options):
    f = Sine()
    value, gradient = rg.value_and_grad(lambda x: function(f, x), **options)(x)
    assert f.counts() == (calls, calls) and f.threads == {threading.get_ident()}
    expected, of = rg.value_and_grad(lambda x: function(np.sin, x))(x)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(gradient, of, rtol=1e-13)
    assert rg.jit(lambda x: function(f, x))(x) == value and f.counts() == (calls, 0)


def test_a_branch_that_is_not_taken_calls_nothing():
    f = Sine()
    value, gradient = rg.value_and_grad(lambda x: branches(f, x))(x)
    expected, of = rg.value_and_grad(lambda x: branches(np.sin, x))(x)
    np.testing.assert_allclose((value, *gradient), (expected, *of), rtol=1e-13)
    called, pulled = f.counts()
    branches(f, x)
    assert (called, pulled) == (f.called, f.called) and 0 < called < 6


def test_what_it_gave_is_kept_and_counted():
    f = Sine()
    big = np.ones(1000)
    plan = rg.grad(lambda x: loop(f, x)).plan(big)
    assert plan.bytes_peak >= 5 * big.nbytes
    with pytest.raises(rg.OverBudget) as refused:
        rg.grad(lambda x: loop(f, x), budget=4 * big.nbytes)(big)
    assert refused.value.needed >= 5 * big.nbytes
    g = rg.grad(lambda x: loop(f, x), budget=refused.value.needed)
    f.counts()
    g(big)
    assert f.counts() == (5, 5)


def test_numbers_that_differ_at_each_call_are_read_once():
    drawn = []

    def draw():
        drawn.append(float(len(drawn) + 1))
        return drawn[-1]

    host = rg.external(draw, result=float)

    def f(x):
        total = 0.0
        for _ in range(4):
            total = total + host() * x**2
        return total

    value, gradient = rg.value_and_grad(f)(3.0)
    assert (value, gradient, drawn) == (90.0, 60.0, [1.0, 2.0, 3.0, 4.0])
    # Two equal calls are two calls.
    assert rg.jit(lambda x: host() - host() + x)(0.0) == -1.0


def test_results_of_several_types():
    big = 2**62 + 3

    def host(a, n, flag):
        assert isinstance(n, int) and a.dtype == np.float32
        return {"a": a * n, "n": np.int64(big), "m": np.arange(2, dtype=np.int32), "flag": not flag, "z": 0.5}

    result = {"a": rg.spec((2,), np.float32), "n": int, "m": rg.spec(2, np.int32), "flag": bool, "z": float}
    made = rg.jit(lambda a, n, flag: rg.external(host, result=result)(a, n, flag))(np.ones(2, np.float32), 3, np.array(True))
    assert made["n"] == big and made["n"].dtype == np.int64 and not made["flag"] and made["z"] == 0.5
    np.testing.assert_array_equal(made["a"], np.full(2, 3, np.float32))
    assert made["m"].dtype == np.int32 and made["a"].dtype == np.float32


def test_an_exception_ends_the_run_and_is_itself():
    class Mine(Exception):
        pass

    calls = []

    def host(x):
        calls.append(1)
        if len(calls) == 3:
            raise Mine("the third")
        return x

    f = rg.external(host, result=lambda x: x, vjp=lambda args, y, ct: (ct,))
    with pytest.raises(Mine, match="the third"):
        rg.grad(lambda x: loop(f, x))(x)
    assert len(calls) == 3
    # The next run is another one.
    assert np.all(np.isfinite(rg.grad(lambda x: loop(f, x))(x)))


@pytest.mark.parametrize(
    "gives, error, message",
    [
        (lambda x: x[:2], rg.ShapeError, r"gives an array of shape \(2,\), and `result` says \(3,\)"),
        (lambda x: x * 1j, rg.DTypeError, "gives complex128, and `result` says float64"),
        (lambda x: (x, x), rg.ArgumentError, "nested otherwise"),
        (lambda x: x["a"], IndexError, "only integers"),
    ],
)
def test_what_it_gives_is_held_against_what_was_announced(gives, error, message):
    f = rg.external(gives, result=rg.spec(3))
    with pytest.raises(error, match=message) as raised:
        rg.jit(lambda x: 2 * f(x))(x)
    if isinstance(raised.value, rg.Error):
        assert raised.value.pos[0] == __file__
        with pytest.raises(error, match=message):
            f(x)


def test_without_a_vjp_it_is_not_differentiated():
    f = rg.external(np.sin, result=rg.spec(3))
    for function in (lambda x: np.sum(f(x)), lambda x: loop(f, x)):
        with pytest.raises(rg.MissingRule, match="external.* has no derivative"):
            rg.grad(function)(x)
    # What does not matter to the gradient may be anything.
    np.testing.assert_array_equal(rg.grad(lambda x: np.sum(x * rg.stop_gradient(f(rg.stop_gradient(x)))))(x), np.sin(x))
    # An inner gradient does not hide it from an outer one.
    with pytest.raises(rg.MissingRule, match="external"):
        rg.grad(lambda y: rg.grad(lambda a, y: np.sum(a * loop(f, y)))(x, y)[0])(x)


def test_where_the_number_of_calls_is_not_known_only_pure_functions_are_differentiated():
    def until(f, x):
        while np.sum(x) < 8.0:
            x = f(x) + x
        return np.sum(x)

    f, pure = Sine(), Sine(pure=True)
    assert np.isfinite(rg.jit(lambda x: until(f, x))(x))
    with pytest.raises(rg.Unsupported, match="pure=True"):
        rg.grad(lambda x: until(f, x))(x)
    np.testing.assert_allclose(rg.grad(lambda x: until(pure, x))(x), rg.grad(lambda x: until(np.sin, x))(x), rtol=1e-13)


def test_a_pure_one_may_be_called_again():
    f = Sine(pure=True)
    for strategy in ("recompute_all", "keep_all"):
        np.testing.assert_allclose(rg.grad(lambda x: loop(f, x), strategy=strategy)(x), rg.grad(lambda x: loop(np.sin, x))(x), rtol=1e-13)


def test_a_rule_that_is_traced_differentiates_again():
    f = rg.external(np.sin, result=lambda x: x, vjp=rg.jit(lambda args, y, ct: (ct * np.cos(args[0]),)))
    np.testing.assert_allclose(np.diag(rg.hessian(lambda x: np.sum(f(x)))(x)), -np.sin(x), rtol=1e-14)
    with pytest.raises(rg.MissingRule):
        rg.hessian(lambda x: np.sum(Sine()(x)))(x)
    with pytest.raises(rg.Unsupported, match="forward mode"):
        rg.jvp(lambda x: f(x), (x,), (x,))


def test_nested_arguments_and_partial_cotangents():
    def host(p, n):
        return p["a"] * p["b"] + n

    f = rg.external(host, result=rg.spec(3), vjp=lambda args, y, ct: ({"a": ct * args[0]["b"], "b": ct * args[0]["a"]}, None))
    found = rg.grad(lambda p: np.sum(f(p, 3)))({"a": x, "b": 2 * x})
    np.testing.assert_array_equal(found["a"], 2 * x)
    np.testing.assert_array_equal(found["b"], x)
    wrong = rg.external(host, result=rg.spec(3), vjp=lambda args, y, ct: (ct,))
    with pytest.raises(rg.ArgumentError, match="gives a tuple of 2 cotangents, one per argument; found tuple of 1"):
        rg.grad(lambda p: np.sum(wrong(p, 3)))({"a": x, "b": 2 * x})


def test_it_is_not_saved(tmp_path):
    f = Sine()
    compiled = rg.jit(lambda x: f(x)).compile(x)
    with pytest.raises(rg.Unsupported, match=r"Sine.forward\(\)"):
        compiled.save(tmp_path / "f.rgx")


def test_it_is_the_function_itself_outside_of_a_trace():
    f = Sine()
    np.testing.assert_array_equal(f(x), np.sin(x))
    with rg.disable_jit():
        np.testing.assert_array_equal(rg.jit(lambda x: f(x))(x), np.sin(x))
    assert repr(f.external) == "rg.external(Sine.forward)"
    with pytest.raises(rg.ArgumentError, match="`result` is an rg.spec"):
        rg.external(np.sin, result="a")


def test_a_host_function_may_run_compiled_functions():
    inner = rg.grad(lambda x: np.sum(x**3))
    f = rg.external(lambda x: inner(x), result=lambda x: x)
    np.testing.assert_array_equal(rg.jit(lambda x: f(x) + 1.0)(x), 3 * x**2 + 1.0)


def test_in_a_function_with_a_rule_of_its_own_it_is_refused_unless_pure():
    f = Sine()
    ruled = rg.custom_vjp(lambda x: f(x))
    ruled.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * np.cos(x),))
    with pytest.raises(rg.Unsupported, match="derivative of its own"):
        rg.grad(lambda x: np.sum(ruled(x)))(x)
