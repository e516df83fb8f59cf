"""Arguments and results: pytrees with None, named tuples, dataclasses and registered classes; arrays of other packages; what is built on them."""

import collections
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import retrograd as rg

jax.config.update("jax_enable_x64", True)

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Model:
    weight: np.ndarray
    bias: float
    name: str = "linear"
    extra: object = None


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


rg.register_pytree_node(Pair, lambda pair: ((pair.a, pair.b), None), lambda rest, children: Pair(*children))


def predict(model, x):
    scale = 2.0 if model.name == "linear" else 3.0
    return np.sum(scale * model.weight * x) + model.bias


def test_dataclasses_with_strings_and_none():
    model = Model(np.array([1.0, 2.0]), 0.5)
    value, gradient = rg.value_and_grad(predict)(model, np.array([3.0, 4.0]))
    assert value == predict(model, np.array([3.0, 4.0]))
    assert isinstance(gradient, Model) and gradient.name == "linear" and gradient.extra is None and gradient.bias == 1.0
    np.testing.assert_array_equal(gradient.weight, [6.0, 8.0])
    np.testing.assert_array_equal(rg.grad(predict)(Model(np.array([1.0, 2.0]), 0.5, "cubic"), np.array([3.0, 4.0])).weight, [9.0, 12.0])


def test_registered_classes_named_tuples_and_none_go_in_and_out():
    def f(pair, point):
        return Pair(pair.a * point.x, {"y": point.y, "none": None}), Point(pair.b, None)

    found, point = rg.jit(f)(Pair(2.0, np.ones(2)), Point(3.0, 4.0))
    assert isinstance(found, Pair) and found.a == 6.0 and found.b == {"y": 4.0, "none": None}
    assert isinstance(point, Point) and point.y is None
    gradient = rg.grad(lambda pair: pair.a * np.sum(pair.b))(Pair(2.0, np.ones(2)))
    assert isinstance(gradient, Pair) and gradient.a == 2.0


def test_strings_and_functions_are_static():
    def f(x, how, act=None):
        y = np.sin(x) if how == "sin" else np.cos(x)
        return np.sum(y if act is None else act(y))

    x = np.arange(3.0)
    np.testing.assert_allclose(rg.grad(f)(x, "sin"), np.cos(x))
    np.testing.assert_allclose(rg.grad(f)(x, "cos"), -np.sin(x))
    np.testing.assert_allclose(rg.grad(f)(x, "sin", np.square), 2 * np.sin(x) * np.cos(x))


def test_masked_arrays_and_matrices_are_refused_by_name():
    for value, name in ((np.ma.masked_array([1.0, 2.0]), "MaskedArray"), (np.matrix([[1.0]]), "matrix")):
        with pytest.raises(rg.Unsupported, match=name):
            rg.grad(lambda x: np.sum(x))(value)


class Foreign:
    """An array of another package, by one of the protocols."""

    def __init__(self, elements, protocol):
        self.elements = elements
        setattr(type(self), protocol, {"__array__": lambda self, dtype=None, copy=None: self.elements, "__dlpack__": lambda self, **_: self.elements.__dlpack__()}[protocol])
        type(self).__dlpack_device__ = lambda self: self.elements.__dlpack_device__()


@pytest.mark.parametrize("protocol", ["__array__", "__dlpack__"])
def test_arrays_of_other_packages(protocol):
    kind = type("Foreign", (Foreign,), {})
    np.testing.assert_array_equal(rg.grad(lambda x: np.sum(x * x))(kind(np.arange(3.0), protocol)), [0.0, 2.0, 4.0])


def test_jax_arrays_go_in():
    np.testing.assert_array_equal(rg.grad(lambda x: np.sum(x * x))(jnp.arange(3.0)), [0.0, 2.0, 4.0])


def test_results_of_one_element_have_a_gradient():
    x = np.array([1.0, 2.0])
    value, gradient = rg.value_and_grad(lambda x: x[:1] * x[1:])(x)
    np.testing.assert_array_equal(value, [2.0])
    np.testing.assert_array_equal(gradient, [2.0, 1.0])
    np.testing.assert_array_equal(rg.hessian(lambda x: (x[:1] * x[1:]).reshape(1, 1))(x), [[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(rg.ShapeError):
        rg.grad(lambda x: x * x)(x)


def test_tree_functions():
    tree = {"b": [1.0, (2.0, None)], "a": Point(3.0, 4.0)}
    leaves, treedef = rg.tree_flatten(tree)
    assert leaves == [1.0, 2.0, 3.0, 4.0] == rg.tree_leaves(tree)
    assert rg.tree_unflatten(treedef, leaves) == tree and treedef == rg.tree_structure(tree) and treedef.num_leaves == 4
    assert rg.tree_map(lambda a, b: a + b, tree, tree) == {"b": [2.0, (4.0, None)], "a": Point(6.0, 8.0)}
    assert rg.tree_reduce(lambda a, b: a + b, tree) == 10.0
    with pytest.raises(ValueError):
        rg.tree_map(lambda a, b: a, tree, {"b": 1.0})


def body(row, v):
    for i in range(3):
        row = np.sin(row) * v
    return row, np.sum(row)


@pytest.mark.parametrize("in_axes, out_axes", [((0, None), 0), ((1, 0), (1, 0)), ((-1, 1), (0, -1)), (0, 0)])
def test_vmap_as_in_jax(in_axes, out_axes):
    rng = np.random.default_rng(3)
    a = rng.normal(size=(4, 4))
    v = rng.normal(size=(4, 4)) if in_axes != (0, None) else rng.normal(size=4)
    found = rg.vmap(body, in_axes, out_axes)(a, v)

    def reference(row, v):
        for i in range(3):
            row = jnp.sin(row) * v
        return row, jnp.sum(row)

    for x, y in zip(found, jax.vmap(reference, in_axes, out_axes)(a, v)):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)
    summed = lambda a, v: np.sum(rg.vmap(body, in_axes, out_axes)(a, v)[0])
    expected = jax.grad(lambda a, v: jnp.sum(jax.vmap(reference, in_axes, out_axes)(a, v)[0]))(a, v)
    np.testing.assert_allclose(rg.grad(summed)(a, v), expected, rtol=1e-9, atol=1e-12)


def test_linearize_and_linear_transpose():
    f = lambda x: np.sin(x) * x[0]
    x, dx = np.array([0.5, 1.5]), np.array([1.0, -2.0])
    y, push = rg.linearize(f, x)
    np.testing.assert_array_equal(y, rg.jit(f)(x))
    np.testing.assert_array_equal(push(dx), rg.jvp(f, (x,), (dx,))[1])
    a = np.arange(6.0).reshape(2, 3)
    transpose = rg.linear_transpose(lambda x: a @ x, rg.spec(3))
    np.testing.assert_array_equal(transpose(np.array([1.0, 2.0]))[0], a.T @ [1.0, 2.0])
    for curved in (lambda x: x * x, lambda x: x + 1.0, np.abs, lambda x: np.where(x > 1e5, 0.0, x)):
        with pytest.raises(rg.ArgumentError, match="not linear"):
            rg.linear_transpose(curved, rg.spec(3))


def test_hvp_takes_tangents_as_jvp_does():
    f = lambda x, y: np.sum(x**3 * y) + np.sum(y**2)
    x, y, dx, dy = (np.random.default_rng(k).normal(size=3) for k in range(4))
    np.testing.assert_allclose(rg.hvp(f, (x, y), (dx, None)), 6 * x * y * dx)
    np.testing.assert_allclose(rg.hvp(f, (x, y), (dx, dy)), 6 * x * y * dx + 3 * x**2 * dy)
    found = rg.hvp(f, (x, y), (dx, dy), argnums=(0, 1))
    np.testing.assert_allclose(found[1], 3 * x**2 * dx + 2 * dy)
    with pytest.raises(rg.ArgumentError, match="per primal"):
        rg.hvp(f, (x, y), dx)


def test_eval_shape_runs_nothing():
    def f(p, n):
        return {"out": p["w"] @ p["x"], "n": n, "none": None}

    found = rg.eval_shape(f, {"w": rg.spec((2, 3), np.float32), "x": rg.spec(3, np.float32)}, rg.spec((), np.int64))
    assert found["out"].shape == (2,) and found["out"].dtype == np.float32 and found["n"].dtype == np.int64 and found["none"] is None


def layer(x):
    y = np.sin(x) * np.exp(x)
    return np.tanh(y) * y


def test_fates_change_the_plan_and_no_bit():
    x = np.random.default_rng(8).normal(size=1000)

    def loss(f):
        def whole(x):
            for i in range(30):
                x = 0.5 * f(x)
            return np.sum(x)

        return whole

    kept, again = (rg.value_and_grad(loss(rg.fate(layer, fate))) for fate in ("keep", "recompute"))
    plain = rg.value_and_grad(loss(layer), strategy=rg.user())
    for g in (kept, again):
        value, gradient = g(x)
        np.testing.assert_array_equal(gradient, plain(x)[1])
    assert kept.plan(x).bytes_peak > again.plan(x).bytes_peak
    np.testing.assert_array_equal(rg.fate(layer, "keep")(x), layer(x))
    with pytest.raises(rg.ArgumentError):
        rg.fate(layer, "forget")


def test_a_budget_of_the_outer_gradient_covers_the_inner_one():
    def inner(x):
        for i in range(40):
            x = np.sin(x) * 1.1
        return np.sum(x)

    outer = lambda x: np.sum(rg.grad(inner)(x) ** 2)
    x = np.random.default_rng(2).normal(size=200)
    free = rg.grad(outer)
    with pytest.raises(rg.OverBudget) as refused:
        rg.grad(outer, budget=1)(x)
    tight = rg.grad(outer, budget=refused.value.needed)
    assert tight.plan(x).bytes_peak <= refused.value.needed < free.plan(x).bytes_peak
    np.testing.assert_array_equal(tight(x), free(x))


def test_kinds_of_arguments_are_forgotten_and_told():
    f = rg.jit(lambda x, c: 2.0 * x)
    with pytest.warns(UserWarning, match="more than 256 kinds of arguments"):
        for k in range(260):
            assert f(1.0, str(k)) == 2.0
    assert len(f.cache) == 256
