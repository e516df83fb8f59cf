"""vjp, jvp, Jacobians, Hessians, custom rules, derivatives of functions that take derivatives, debug_nan: against JAX."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import close

import retrograd as rg

v = np.array([0.3, -0.7, 1.1])
w = np.array([[1.0, 0.5, -0.2], [0.1, 0.9, 0.4]])


def in_jax(f):
    """The same source over JAX, with the functions of this file that it calls."""
    scope = {**f.__globals__, "np": jnp, "rg": jax}
    for name in ("layer", "energy"):
        scope[name] = types.FunctionType(scope[name].__code__, scope)
    return types.FunctionType(f.__code__, scope, f.__name__, f.__defaults__, f.__closure__)


def same(found, expected, tolerance=1e-11):
    found, structure = jax.tree.flatten(found)
    wanted, other = jax.tree.flatten(expected)
    assert structure == other
    for a, b in zip(found, wanted):
        close(a, b, tolerance)


def layer(w, x):
    for i in range(3):
        x = np.tanh(w.T @ (w @ x)) + x
    return w @ x


def scalar(w, x):
    return np.sum(layer(w, x) ** 2)


def several(w, x):
    return {"sum": np.sum(w @ x), "parts": (w * x, x**3)}


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1,)])
@pytest.mark.parametrize("name", ["jacfwd", "jacrev"])
def test_jacobians(name, argnums):
    for f in (layer, several):
        same(getattr(rg, name)(f, argnums)(w, v), getattr(jax, name)(in_jax(f), argnums)(w, v))
    same(rg.jacobian(layer, argnums)(w, v), jax.jacrev(in_jax(layer), argnums)(w, v))


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_hessians(argnums):
    same(rg.hessian(scalar, argnums)(w, v), jax.hessian(in_jax(scalar), argnums)(w, v), 1e-10)


def test_hessian_times_vector():
    found = rg.hvp(scalar, (w, v), (None, 2 * v), argnums=1)
    expected = jax.jvp(lambda x: jax.grad(in_jax(scalar), 1)(w, x), (v,), (2 * v,))[1]
    same(found, expected, 1e-10)
    found = rg.hvp(scalar, (w, v), (0.5 * w, v), argnums=(0, 1))
    same(found, jax.jvp(jax.grad(in_jax(scalar), (0, 1)), (w, v), (0.5 * w, v))[1], 1e-10)


def test_jvp_and_vjp():
    for f in (layer, several):
        same(rg.jvp(f, (w, v), (w + 1, v - 1)), jax.jvp(in_jax(f), (w, v), (w + 1, v - 1)))
        value, pullback = rg.vjp(f, w, v)
        expected, expected_pullback = jax.vjp(in_jax(f), w, v)
        same(value, expected)
        ct = jax.tree.map(lambda y: np.cos(np.asarray(y)), value)
        same(pullback(ct), expected_pullback(jax.tree.map(jnp.asarray, ct)))


def test_what_is_no_float_has_no_cotangent():
    def power(x, n):
        for i in range(n):
            x = x * v
        return np.sum(x)

    value, pullback = rg.vjp(power, v, 3)
    dx, dn = pullback(1.0)
    assert dn is None
    close(dx, v**3)
    with pytest.raises(rg.ShapeError, match="cotangent"):
        pullback(v)


def with_aux(x, y):
    z = np.sin(x) * y
    return np.sum(z), {"z": z, "n": 3}


def test_aux():
    value = np.sum(np.sin(v) * 2.0)
    (found, aux), gradient = rg.value_and_grad(with_aux, has_aux=True)(v, 2.0)
    close(found, value), close(aux["z"], np.sin(v) * 2.0), close(gradient, np.cos(v) * 2.0)
    assert aux["n"] == 3
    gradient, aux = rg.grad(with_aux, argnums=(0, 1), has_aux=True)(v, 2.0)
    close(gradient[1], np.sum(np.sin(v))), close(aux["z"], np.sin(v) * 2.0)
    jacobian, aux = rg.jacrev(with_aux, has_aux=True)(v, 2.0)
    close(jacobian, np.cos(v) * 2.0), close(aux["z"], np.sin(v) * 2.0)
    value, tangent, aux = rg.jvp(with_aux, (v, 2.0), (v, 0.0), has_aux=True)
    close(tangent, np.sum(np.cos(v) * 2.0 * v)), close(aux["z"], np.sin(v) * 2.0)
    value, pullback, aux = rg.vjp(with_aux, v, 2.0, has_aux=True)
    close(pullback(2.0)[0], np.cos(v) * 4.0), close(aux["z"], np.sin(v) * 2.0)
    with pytest.raises(rg.ArgumentError, match="has_aux"):
        rg.grad(scalar, has_aux=True)(w, v)


# Derivatives of functions that take derivatives


def energy(x, k):
    return np.sum(np.cosh(k * x)) + np.sum(x[1:] * x[:-1]) ** 2


def newton(x, k):
    slope = rg.grad(energy)
    for i in range(4):
        x = x - 0.05 * slope(x, k)
    return energy(x, k) + np.sum(slope(x, k) ** 2)


def inner_closure(x, k):
    def potential(y):
        return np.sum(np.sin(y * k) * x)

    value, slope = rg.value_and_grad(potential)(x * k)
    return np.sum(slope * x) + value


def pushed_inside(x, k):
    y, dy = rg.jvp(lambda z: np.sum(z**3) * k, (x,), (2.0 * x,))
    value, pullback = rg.vjp(lambda z: z * z * k, x)
    (dx,) = pullback(x)
    return y * dy + np.sum(dx * value)


def hessian_inside(x, k):
    h = rg.hessian(energy)(x, k)
    return np.sum(h @ x) + np.sum(rg.jacrev(lambda z: np.sin(z) * k)(x) ** 2)


@pytest.mark.parametrize("f", [newton, inner_closure, pushed_inside, hessian_inside], ids=lambda f: f.__name__)
def test_derivatives_inside_a_function(f):
    same(rg.value_and_grad(f, (0, 1))(v, 0.7), jax.value_and_grad(in_jax(f), (0, 1))(v, 0.7), 1e-10)


def test_transformations_nest():
    def cubic(x):
        return np.sin(x) * x**3

    third = rg.grad(rg.grad(rg.grad(cubic)))
    expected = jax.grad(jax.grad(jax.grad(in_jax(cubic))))
    close(third(0.7), expected(0.7), 1e-11)
    close(rg.jit(rg.grad(cubic))(0.7), jax.grad(in_jax(cubic))(0.7))
    same(rg.jacfwd(rg.grad(scalar, 1), 1)(w, v), jax.hessian(in_jax(scalar), 1)(w, v), 1e-10)


def test_arrays_of_the_function_around_cannot_be_changed():
    def outer(x):
        y = x * 2.0

        def inner(z):
            y[0] = 1.0
            return np.sum(z * y)

        return np.sum(rg.grad(inner)(x))

    with pytest.raises(rg.Unsupported, match="in-place change of an array of the function around"):
        rg.grad(outer)(v)


def test_traced_arrays_do_not_leave_their_function():
    kept = []

    def leak(x):
        kept.append(x * 2.0)
        return np.sum(x)

    with pytest.raises(rg.Unsupported, match="lives outside of the function"):
        rg.grad(leak)(v)
    assert not kept


# Custom rules


def test_custom_vjp():
    @rg.custom_vjp
    def f(x, y):
        return np.sin(x) * y

    @jax.custom_vjp
    def g(x, y):
        return jnp.sin(x) * y

    f.defvjp(lambda x, y: (np.sin(x) * y, (np.cos(x), y)), lambda r, ct: (2.0 * r[0] * r[1] * ct, None))
    g.defvjp(lambda x, y: (jnp.sin(x) * y, (jnp.cos(x), y)), lambda r, ct: (2.0 * r[0] * r[1] * ct, None))

    def loss(x, y):
        for i in range(3):
            x = f(x, y) + x
        return np.sum(x * x)

    def reference(x, y):
        for i in range(3):
            x = g(x, y) + x
        return jnp.sum(x * x)

    close(f(v, 2.0 * v), np.sin(v) * 2.0 * v)
    same(rg.value_and_grad(loss, (0, 1))(v, 2.0 * v), jax.value_and_grad(reference, (0, 1))(v, 2.0 * v))
    with pytest.raises(rg.Unsupported, match="custom_vjp"):
        rg.jvp(loss, (v, v), (v, v))


def test_custom_jvp():
    @rg.custom_jvp
    def f(x, n):
        return x**n

    @f.defjvp
    def f_jvp(primals, tangents):
        (x, n), (dx, _) = primals, tangents
        return x**n, 5.0 * x * dx

    def loss(x):
        return np.sum(f(x, 3) * x)

    close(rg.grad(loss)(v), v**3 + 5.0 * v * v)
    close(rg.jvp(loss, (v,), (v,))[1], np.sum((v**3 + 5.0 * v * v) * v))


def test_stop_gradient():
    def f(x):
        y = {"a": x * x, "n": 2}
        z = rg.stop_gradient(y)
        return np.sum(x * z["a"]) * z["n"]

    close(rg.grad(f)(v), 2.0 * v * v)
    assert rg.stop_gradient(3.0) == 3.0


def test_cotangents_are_clipped_and_changed():
    def clipped(x):
        for i in range(5):
            x = 2.0 * rg.clip_cotangent(x, -3.0, 3.0)
        return np.sum(x)

    close(rg.grad(clipped)(v), [3.0, 3.0, 3.0])
    close(rg.jit(clipped)(v), np.sum(32.0 * v))

    def scaled(x):
        return np.sum(rg.map_cotangent(x, lambda ct: 0.5 * ct) ** 2)

    close(rg.grad(scaled)(v), v)

def test_a_clipped_cotangent_is_not_differentiated_again():
    """Clipping is not linear in the cotangent: reverse mode over an adjoint with it is refused by name, never wrong."""

    def clipped(x):
        for i in range(5):
            x = np.sin(2.0 * rg.clip_cotangent(x, -3.0, 3.0))
        return np.sum(x)

    def again(x):
        return np.sum(rg.grad(clipped)(x) * x)

    assert np.all(np.abs(rg.grad(clipped)(v)) <= 3.0)
    with pytest.raises(rg.Unsupported, match="custom"):
        rg.grad(again)(v)


def test_a_rule_in_a_branch_gets_the_whole_cotangent():
    """The adjoint of an `if` computes the branch again, but a value that clips its cotangent is one value."""

    def clipped(x):
        y = rg.clip_cotangent(x * x, -1.0, 1.0)
        return np.sin(y) * y

    def branch(x):
        if x > 0.0:
            z = clipped(x)
        else:
            z = x
        return z

    def weighed(f):
        def g(x):
            value, slope = rg.value_and_grad(f)(x)
            return 2.0 * value + 3.0 * slope

        return rg.grad(g)(0.7)

    close(weighed(clipped), 6.8178, 1e-4)
    close(weighed(branch), weighed(clipped))


def test_check_grads():
    rg.check_grads(layer, (w, v), 2)
    rg.check_grads(layer, (w, v), 1, modes="rev")

    @rg.custom_jvp
    def wrong(x):
        return x * x

    wrong.defjvp(lambda primals, tangents: (primals[0] ** 2, primals[0] * tangents[0]))

    def uses(x):
        return wrong(x)

    with pytest.raises(AssertionError):
        rg.check_grads(uses, (v,), 1)


# Loops that emit rows


def scanned(x, y):
    def step(carry, row):
        carry = np.tanh(carry * row["a"] + row["b"])
        return carry, (carry * 2.0, np.sum(carry))

    end, (rows, sums) = SCAN(step, x, {"a": y, "b": y * y})
    return np.sum(end) + np.sum(rows**2) + np.sum(sums) + np.sum(MAP(lambda row: np.sin(row) * row[0], y))


def test_scan_and_map():
    y = np.stack([v, 0.5 * v, -v, v + 1])

    def over(f, np, scan, map):
        return types.FunctionType(f.__code__, {**f.__globals__, "np": np, "SCAN": scan, "MAP": map}, f.__name__)

    expected = jax.value_and_grad(over(scanned, jnp, jax.lax.scan, jax.lax.map), (0, 1))(v, y)
    scanned.__globals__.update(SCAN=rg.scan, MAP=rg.map)
    same(rg.value_and_grad(scanned, (0, 1))(v, y), expected)
    close(scanned(v, y), expected[0])
    with pytest.raises(rg.ShapeError, match="equally many rows"):
        rg.scan(lambda c, x: (c, x), 0.0, (np.ones(3), np.ones(4)))
    assert rg.scan(lambda c, x: (c + 1, None), 0, length=5) == (5, None)


# Probes


def watched(x):
    for i in range(4):
        x = np.tanh(1.3 * rg.probe_cotangent(x, "ct"))
        rg.probe(x, "x")
    return np.sum(x * x)


@pytest.mark.parametrize("options", [{}, {"strategy": "keep_all"}, {"strategy": "revolve"}, {"strategy": rg.periodic(2)}], ids=str)
def test_probes_see_every_step_once(options):
    seen = []
    gradient = rg.grad(watched, **options)
    found = rg.observe(gradient, lambda name, steps, array: seen.append((name, steps, array)))(v)
    same(found, gradient(v), 0.0)
    assert [(name, steps) for name, steps, _ in seen] == [("x", (i,)) for i in range(4)] + [("ct", (i,)) for i in reversed(range(4))]
    x = v
    for _, _, array in seen[:4]:
        x = np.tanh(1.3 * x)
        close(array, x)
    close(seen[-1][2], found)


def test_an_observer_prints_or_raises(capsys):
    rg.observe(watched)(v[:1])
    assert capsys.readouterr().out.startswith("x[0]: [")

    def refuse(name, steps, array):
        raise KeyError(name)

    with pytest.raises(KeyError, match="x"):
        rg.observe(watched, refuse)(v)
    assert watched(v) > 0


# debug_nan


def steps(x):
    for i in range(10):
        x = np.log(x + 1.0)
        x = x - 0.5
    return np.sum(x)


def roots(x):
    for i in range(3):
        x = np.sqrt(x * (2.0 - i))
    return np.sum(x)


def test_debug_nan_names_line_step_and_part():
    line = steps.__code__.co_firstlineno
    with pytest.raises(rg.NotFinite, match=rf"`log` made NaN of -\S+ at element \[1\], in step i = \d of the loop at .*:{line + 1} \(forward\)") as error:
        rg.debug_nan(steps)(np.array([1e9, 1.0]))
    assert error.value.pos == (__file__, line + 2)
    line = roots.__code__.co_firstlineno
    assert np.isnan(rg.grad(roots)(v[:1])).any()
    with pytest.raises(rg.NotFinite, match=rf"in step i = 2 of the loop at .*:{line + 1} \(backward\)") as error:
        rg.debug_nan(rg.grad(roots))(v[:1])
    assert error.value.pos == (__file__, line + 2)


def test_debug_nan_gives_the_result_where_nothing_is_wrong():
    same(rg.debug_nan(rg.value_and_grad(scalar, (0, 1)))(w, v), rg.value_and_grad(scalar, (0, 1))(w, v), 1e-14)
    same(rg.debug_nan(layer)(w, v), rg.jit(layer)(w, v), 1e-14)

    def smallest(x):
        best = np.inf
        for i in range(3):
            best = np.where(x[i] < best, x[i], best)
        return best

    close(rg.debug_nan(rg.grad(smallest))(v), [0.0, 1.0, 0.0])


def test_a_rule_of_a_linear_function_that_is_not_its_derivative():
    @rg.custom_vjp
    def clip(x):
        return x * 1.0

    @rg.custom_vjp
    def wave(x):
        return 1.5 * np.sin(x)

    clip.defvjp(lambda x: (x * 1.0, ()), lambda r, ct: (np.clip(ct, -1.0, 1.0),))
    wave.defvjp(lambda x: (1.5 * np.sin(x), (x,)), lambda r, ct: (clip(ct) * 1.5 * np.cos(r[0]),))

    def loop(x):
        for _ in range(3):
            x = wave(x)
        return 3.0 * x * x

    def unrolled(x):
        x = wave(wave(wave(x)))
        return 3.0 * x * x

    close(rg.grad(loop)(0.4), rg.grad(unrolled)(0.4), 1e-15)
    # The backward step is linear by its values, and not by its rules.
    with pytest.raises(rg.Unsupported, match="custom_vjp that is not linear"):
        rg.grad(rg.grad(loop))(0.4)
