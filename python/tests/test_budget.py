"""One number of bytes: the same bits under every strategy and budget, the peak as predicted, and what cannot be met is refused."""

import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import close

import retrograd as rg

rng = np.random.default_rng(3)


def tanh_loop(s, theta):
    for i in range(1000):
        s = s + 0.01 * np.tanh(theta * s)
    return np.sum(s**2)


def tanh_loop_jax(s, theta):
    s = jax.lax.fori_loop(0, 1000, lambda i, s: s + 0.01 * jnp.tanh(theta * s), s)
    return jnp.sum(s**2)


def jacobi(a, b):
    for t in range(60):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * np.sin(b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * a)


def jacobi_jax(a, b):
    def star(x):
        return x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1]

    def step(t, state):
        a, b = state
        b = b.at[1:-1, 1:-1].set(0.2 * star(a))
        return a.at[1:-1, 1:-1].set(0.2 * jnp.sin(star(b))), b

    a, b = jax.lax.fori_loop(0, 60, step, (a, b))
    return jnp.sum(a * a)


def lorenz(state, parameters):
    x, y, z = state[0], state[1], state[2]
    sigma, rho, beta = parameters[0], parameters[1], parameters[2]
    for k in range(1_000_000):
        dx, dy, dz = sigma * (y - x), x * (rho - z) - y, x * y - beta * z
        x, y, z = x + 1e-6 * dx, y + 1e-6 * dy, z + 1e-6 * dz
    return x * x + y * y + z * z


def lorenz_jax(state, parameters):
    sigma, rho, beta = parameters

    def step(k, state):
        x, y, z = state
        dx, dy, dz = sigma * (y - x), x * (rho - z) - y, x * y - beta * z
        return x + 1e-6 * dx, y + 1e-6 * dy, z + 1e-6 * dz

    x, y, z = jax.lax.fori_loop(0, 1_000_000, step, (state[0], state[1], state[2]))
    return x * x + y * y + z * z


PROGRAMS = {
    "tanh loop": (tanh_loop, tanh_loop_jax, (rng.normal(size=10_000), rng.normal(size=10_000)), 1e-12),
    "jacobi": (jacobi, jacobi_jax, (rng.normal(size=(30, 40)), rng.normal(size=(30, 40))), 1e-12),
    # A million steps: rounding adds up, and JAX contracts to fma.
    "lorenz": (lorenz, lorenz_jax, (np.array([1.0, 1.1, 0.9]), np.array([10.0, 28.0, 8.0 / 3.0])), 1e-10),
}


@pytest.fixture(params=PROGRAMS, scope="module")
def program(request):
    return PROGRAMS[request.param]


def run(f, args, **options):
    """Value and gradients as one list, after the measured peak was held against the plan's."""
    compiled = rg.value_and_grad(f, argnums=(0, 1), **options).compile(*args)
    value, gradients = compiled(*args)
    assert compiled.stats.bytes_peak == compiled.plan.bytes_peak
    return [value, *gradients], compiled.plan.bytes_peak


def smallest(f, args, strategy):
    with pytest.raises(rg.OverBudget) as refused:
        rg.value_and_grad(f, argnums=(0, 1), budget=16, strategy=strategy)(*args)
    assert refused.value.budget == 16
    return refused.value.needed


def test_equals_jax(program):
    f, reference, args, tolerance = program
    found, _ = run(f, args)
    value, gradients = jax.jit(jax.value_and_grad(reference, argnums=(0, 1)))(*args)
    for a, b in zip(found, [value, *gradients]):
        close(a, b, tolerance)


def test_same_bits_under_every_strategy_and_budget(program):
    f, _, args, _ = program
    expected, most = run(f, args, strategy="keep_all")
    keep, least = smallest(f, args, "keep_all"), smallest(f, args, "auto")
    assert least <= keep == most
    # The smallest budget replays every step from the start, a quadratic number of steps: it is for the short loop.
    budgets = [least if f is jacobi else 2 * least + 10_000, (least + most) // 20, (least + most) // 2]
    plans = [{"strategy": "periodic"}, {"strategy": "revolve"}, {"strategy": rg.periodic(period=7)}]
    plans += [{"budget": budget} for budget in budgets if budget >= least]
    for options in plans:
        found, peak = run(f, args, **options)
        assert peak <= options.get("budget", peak)
        for a, b in zip(found, expected):
            np.testing.assert_array_equal(a, b, err_msg=str(options))


def test_a_thousand_bytes_are_refused_with_the_smallest_budget():
    args = PROGRAMS["tanh loop"][2]
    with pytest.raises(rg.OverBudget, match="smallest") as refused:
        rg.value_and_grad(tanh_loop, argnums=(0, 1), budget=1000)(*args)
    needed = refused.value.needed
    # State, the two gradients, and little else.
    assert 240_000 <= needed < 241_000
    with pytest.raises(rg.OverBudget):
        rg.value_and_grad(tanh_loop, argnums=(0, 1), budget=needed - 1).compile(*args)
    assert rg.value_and_grad(tanh_loop, argnums=(0, 1), budget=needed).compile(*args).plan.bytes_peak == needed


def test_the_plan_says_what_will_happen():
    args = PROGRAMS["tanh loop"][2]
    g = rg.value_and_grad(tanh_loop, argnums=(0, 1), budget="1.2 MB")
    text = str(g.plan(*args))
    assert "1,000 steps" in text and "tiles of 40" in text and "test_budget.py:" in text
    assert len(text.splitlines()) == 6 and "1.2 MB" in text and "unrolled: nothing" in text
    assert "forward steps" in g.plan(*args).explain() and text.splitlines()[0] in g.plan(*args)._repr_html_().replace("&#x27;", "'")
    assert g.plan(*args).bytes_peak <= 1_200_000


def test_what_takes_no_work_has_no_gap():
    def same(x):
        return x

    assert rg.jit(same).plan(1.0).gap == 0


def test_the_plan_is_data(tmp_path):
    args = rng.normal(size=300), rng.normal(size=300)
    compiled = rg.value_and_grad(waves, argnums=(0, 1), budget="60 kB").compile(*args)
    plan = compiled.plan
    assert plan.data["bytes_peak"] == plan.bytes_peak and plan.data["loops"][0]["steps"] == 400
    assert 0 < plan.seconds_bound <= plan.seconds and abs(plan.gap - (plan.seconds / plan.seconds_bound - 1)) < 1e-9
    curve = plan.curve
    assert [point.bytes for point in curve] == sorted(point.bytes for point in curve) and len(curve) > 4
    (chosen,) = [point for point in curve if point.chosen]
    assert chosen.bytes == plan.bytes_peak and abs(chosen.seconds - plan.seconds) < 1e-9
    assert curve[0].bytes < plan.bytes_peak < curve[-1].bytes and curve[0].seconds > plan.seconds > curve[-1].seconds
    paths = plan.save_pictures(tmp_path / "pictures")
    assert [open(path).read()[:4] for path in paths] == ["<svg"] * len(paths) and paths[-1].endswith("curve.svg")
    compiled.save(tmp_path / "saved.rgx")
    with pytest.raises(rg.Unsupported, match="loaded from a file"):
        rg.load(tmp_path / "saved.rgx").plan.curve


def test_the_example_of_curves_runs():
    example = pathlib.Path(__file__).parents[2] / "examples" / "plan_curve.py"
    lines = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) > 8 and sum("<- this plan" in line for line in lines) == 1


def waves(u, v):
    for t in range(400):
        u[1:-1] = u[1:-1] + 0.1 * np.sin(v[2:] - 2.0 * v[1:-1] + v[:-2])
        v = v + 0.1 * np.exp(np.sin(u)) * np.cos(v)
    return np.sum(u * v)


def test_a_disk_changes_no_bit_and_is_left_empty(tmp_path):
    args = rng.normal(size=300), rng.normal(size=300)
    options = dict(argnums=(0, 1), budget="60 kB")
    value, gradients = rg.value_and_grad(waves, **options)(*args)
    spilling = rg.value_and_grad(waves, **options, spill=tmp_path, spill_budget="100 MB")
    found, spilled = spilling(*args)
    assert found == value
    for a, b in zip(spilled, gradients):
        np.testing.assert_array_equal(a, b)
    compiled = spilling.compile(*args)
    assert compiled.stats.bytes_spilled == compiled.plan.bytes_spilled <= 100_000_000
    assert compiled.stats.bytes_peak == compiled.plan.bytes_peak <= 60_000
    assert list(tmp_path.iterdir()) == []


def test_a_disk_needs_a_directory_and_bytes(tmp_path):
    args = rng.normal(size=300), rng.normal(size=300)
    with pytest.raises(rg.ArgumentError, match="both or neither"):
        rg.grad(waves, spill=tmp_path)
    with pytest.raises(rg.DiskError, match="no file for spilled states"):
        rg.grad(waves, budget="60 kB", spill=tmp_path / "missing", spill_budget="1 MB")(*args)
    with pytest.raises(OSError):
        rg.grad(waves, budget="60 kB", spill=tmp_path / "missing", spill_budget="1 MB")(*args)


def test_fates_by_name_change_the_plan_and_no_bit():
    args = rng.normal(size=300), rng.normal(size=300)
    place = f"test_budget.py:{waves.__code__.co_firstlineno + 1}"
    expected = rg.grad(waves)(*args)
    for fate, words in [("keep_all", "keep all"), ("periodic 20", "every 20 steps"), ("revolve 7", "revolve with 7 slots")]:
        f = rg.grad(waves, strategy=rg.user(loops={place: fate}))
        assert words in str(f.plan(*args))
        np.testing.assert_array_equal(f(*args), expected)
    np.testing.assert_array_equal(rg.grad(waves, strategy=rg.user(values={"exp": "keep"}))(*args), expected)
    with pytest.raises(rg.ArgumentError, match="no derivative reads a value `tanh`"):
        rg.grad(waves, strategy=rg.user(values={"tanh": "keep"}))(*args)
    with pytest.raises(rg.ArgumentError, match="not `often`"):
        rg.grad(waves, strategy=rg.user(loops={place: "often"}))(*args)
