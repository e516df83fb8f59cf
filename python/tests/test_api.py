"""The surface: signatures, caching, plans, statistics."""

import inspect
import threading

import jax
import numpy as np
import oracle  # noqa: F401, sets JAX to 64 bits
import pytest

import retrograd as rg

v = np.array([1.0, -2.0, 3.0])


def f(x, y):
    return np.sum(x * x) * y


def test_signatures_are_those_of_jax():
    value, gradient = rg.value_and_grad(f)(v, 2.0)
    assert isinstance(value, np.float64) and isinstance(gradient, np.ndarray)
    value, (dx, dy) = rg.value_and_grad(f, argnums=(0, 1))(v, 2.0)
    np.testing.assert_allclose(dx, 4 * v)
    np.testing.assert_allclose(dy, 14.0)
    assert dy.shape == ()
    (dy,) = rg.grad(f, argnums=(1,))(v, 2.0)
    np.testing.assert_allclose(dy, 14.0)
    np.testing.assert_allclose(rg.grad(f, -1)(v, 2.0), 14.0)


def test_nested_arguments_keep_their_structure():
    def loss(params, x):
        h = x
        for w, b in params["layers"]:
            h = np.tanh(w @ h + b)
        return np.sum(h)

    rng = np.random.default_rng(0)
    params = {"layers": [(rng.normal(size=(4, 3)), rng.normal(size=4)), (rng.normal(size=(2, 4)), rng.normal(size=2))]}
    found = rg.grad(loss)(params, v)

    def loss_jax(params, x):
        h = x
        for w, b in params["layers"]:
            h = jax.numpy.tanh(w @ h + b)
        return jax.numpy.sum(h)

    expected = jax.grad(loss_jax)(params, v)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), found, expected)


def test_compiled_once_per_types():
    g = rg.value_and_grad(f)
    g(v, 2.0), g(v + 1, 3.0), g(y=1.0, x=v)
    assert len(g.cache) <= 2
    g(np.ones(4), 2.0)
    assert len(g.cache) <= 3


def test_layouts_do_not_matter():
    def total(x):
        return np.sum(x * np.arange(6.0).reshape(2, 3))

    x = np.asfortranarray(np.random.default_rng(0).normal(size=(2, 3)))
    np.testing.assert_allclose(rg.jit(total)(x), total(x))
    np.testing.assert_allclose(rg.jit(total)(np.repeat(x, 2, axis=1)[:, ::2]), total(x))


def test_compile_and_plan_need_types_only():
    g = rg.value_and_grad(f)
    compiled = g.compile(rg.spec(3), 2.0)
    assert isinstance(compiled.plan.bytes_peak, int)
    assert isinstance(str(compiled.plan), str) and isinstance(str(g.plan(rg.spec((3,), float), 2.0)), str)
    value, gradient = compiled(v, 2.0)
    np.testing.assert_allclose(value, f(v, 2.0))
    assert compiled.stats.bytes_peak == compiled.plan.bytes_peak
    assert compiled.stats.seconds > 0
    with pytest.raises(rg.ArgumentError, match="other types"):
        compiled(np.ones(4), 2.0)
    with pytest.raises(rg.ArgumentError, match="a run needs arrays"):
        g(rg.spec(3), 2.0)


def test_budgets_and_strategies_are_checked():
    with pytest.raises(rg.ArgumentError, match="budget"):
        rg.grad(f, budget=3.5).compile(v, 2.0)
    with pytest.raises(rg.ArgumentError, match="parsecs"):
        rg.grad(f, budget="12 parsecs").compile(v, 2.0)
    with pytest.raises(rg.ArgumentError, match="no strategy `magic`"):
        rg.grad(f, strategy="magic").compile(v, 2.0)
    assert repr(rg.periodic(period=10)) == "rg.periodic(period=10)"


def test_results_keep_their_structure():
    def many(x):
        return {"twice": x * 2.0, "sum": (np.sum(x), 3, np.ones(2))}

    result = rg.jit(many)(v)
    np.testing.assert_allclose(result["twice"], 2 * v)
    assert result["sum"][0] == 2.0 and result["sum"][1] == 3


def test_decorators_and_names():
    @rg.jit
    def decorated(x):
        """Doc."""
        return np.sum(x)

    assert decorated(v) == 2.0 and decorated.__name__ == "decorated" and decorated.__doc__ == "Doc."


def test_other_threads_run_meanwhile():
    def slow(x):
        for i in range(2_000_000):
            x = x * 0.999 + 0.001
        return x

    compiled = rg.jit(slow)
    compiled.compile(1.0)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    compiled(1.0)
    done.set()
    thread.join()
    assert ticks or compiled.cache[next(iter(compiled.cache))].stats.seconds < 0.01


def test_positions_of_instructions_are_the_users():
    def loss(x):
        y = x * 2.0
        return np.sum(y)

    text = str(rg.jit(loss).compile(v).program)
    assert "mul" in text


def test_back_ends_give_the_same_bits_and_say_who_they_are():
    def loss(x, y):
        for i in range(20):
            x = x + 0.1 * np.tanh(x * y) - np.exp(-x * x) * np.sin(y)
        return np.sum(x * x)

    x, y = np.linspace(-2.0, 2.0, 37), np.linspace(0.1, 3.0, 37)
    compiled = {name: rg.value_and_grad(loss, argnums=(0, 1), backend=name).compile(x, y) for name in ("cranelift", "auto")}
    assert compiled["cranelift"].backend.startswith("cranelift 0.")
    assert compiled["auto"].backend.startswith(("llvm ", "cranelift 0."))
    (value, gradient), (other_value, other_gradient) = (compiled[name](x, y) for name in ("cranelift", "auto"))
    assert value == other_value
    for ours, other in zip(gradient, other_gradient):
        np.testing.assert_array_equal(ours, other)


def test_threads_share_large_arrays_and_do_not_change_a_bit():
    def values(x):
        return np.tanh(0.3 * x + 0.1) * np.exp(-x * x)

    x = np.linspace(-2.0, 2.0, 100_003)
    one, two = (rg.jit(values, threads=threads).compile(x) for threads in (1, 2))
    assert (one.threads, two.threads) == (1, 2)
    np.testing.assert_array_equal(one(x), two(x))
    assert rg.jit(values, threads=2).compile(v).threads == 1
    for threads in (0, -1, 1.5, True):
        with pytest.raises(rg.ArgumentError, match="`threads` is an int from 1 to 4096"):
            rg.jit(values, threads=threads)


def test_a_back_end_that_is_not_there_is_an_error():
    with pytest.raises(rg.ArgumentError, match="no back end `gcc`; there are cranelift, cranelift:narrow, llvm, llvm:PATH and auto"):
        rg.jit(f, backend="gcc")(v, 2.0)
    with pytest.raises(rg.Unsupported, match="/nowhere/libLLVM.so"):
        rg.jit(f, backend="llvm:/nowhere/libLLVM.so")(v, 2.0)


def test_options_are_told_and_checked():
    for function in (rg.grad, rg.jit, rg.vjp, rg.hvp):
        assert "spill_budget" in function.__doc__ and "budget" in inspect.signature(function).parameters
    with pytest.raises(rg.ArgumentError, match="there is no option `budgte`; there are budget, strategy"):
        rg.grad(lambda x: x, budgte="1 MB")
