"""What is saved and loaded is called as before, with the same bits and the same peak."""

import collections
import json

import numpy as np
import pytest

import retrograd as rg

Point = collections.namedtuple("Point", "x y")


def loss(s, theta, n=3):
    for i in range(20):
        s = s + 0.01 * np.tanh(theta * s)
    return np.sum(s**2) * n


def args():
    rng = np.random.default_rng(1)
    return rng.standard_normal(30), rng.standard_normal(30)


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    else:
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("backend", ["cranelift", "auto"])
def test_a_gradient_is_saved_and_loaded(tmp_path, backend):
    g = rg.value_and_grad(loss, argnums=(0, 1), budget="20 kB")
    compiled = g.compile(*args())
    compiled.save(tmp_path / "loss.rgx")
    loaded = rg.load(tmp_path / "loss.rgx", backend=backend)
    same(g(*args()), loaded(*args()))
    assert loaded.plan.bytes_peak == compiled.plan.bytes_peak == loaded.stats.bytes_peak
    assert str(loaded.plan) == str(compiled.plan)
    assert loaded.name == "loss"


def test_the_nesting_of_arguments_and_results_is_kept(tmp_path):
    def f(state, scale):
        a, b = state["a"], state["b"]
        return {"sum": a + b[0], "parts": [a * scale, (b[1], 2)]}

    state = {"a": np.arange(3.0), "b": [np.ones(3), np.array([1, 2])]}
    compiled = rg.jit(f).compile(state, scale=2.0)
    compiled.save(tmp_path / "f.rgx")
    loaded = rg.load(str(tmp_path / "f.rgx"))
    same(compiled(state, scale=2.0), loaded(state, scale=2.0))
    same(compiled(state, 2.0), loaded(state, 2.0))


@pytest.mark.parametrize("transform", [rg.grad, rg.jacfwd, rg.jacrev, rg.hessian])
def test_derivatives_are_saved(tmp_path, transform):
    g = transform(loss, argnums=1)
    g.compile(*args()).save(tmp_path / "g.rgx")
    same(g(*args()), rg.load(tmp_path / "g.rgx")(*args()))


def test_aux_is_saved_where_it_is_a_result(tmp_path):
    def f(x):
        return np.sum(x**2), {"double": 2 * x}

    g = rg.value_and_grad(f, has_aux=True)
    g.compile(np.arange(3.0)).save(tmp_path / "g.rgx")
    same(g(np.arange(3.0)), rg.load(tmp_path / "g.rgx")(np.arange(3.0)))
    with pytest.raises(rg.Unsupported, match="has_aux"):
        rg.hessian(f, has_aux=True).compile(np.arange(3.0)).save(tmp_path / "h.rgx")


def test_a_fault_of_what_was_loaded_is_at_the_line_of_the_function(tmp_path):
    def pick(x, k):
        return x[k] * 2.0

    compiled = rg.jit(pick).compile(np.arange(3.0), 7)
    compiled.save(tmp_path / "pick.rgx")
    with pytest.raises(rg.BoundsError) as before:
        compiled(np.arange(3.0), 7)
    with pytest.raises(rg.BoundsError) as after:
        rg.load(tmp_path / "pick.rgx")(np.arange(3.0), 7)
    assert str(before.value) == str(after.value) and "return x[k]" in str(after.value)


def test_other_arguments_are_refused(tmp_path):
    rg.grad(loss).compile(*args()).save(tmp_path / "g.rgx")
    loaded = rg.load(tmp_path / "g.rgx")
    with pytest.raises(rg.ArgumentError, match=r"loss\(\) was compiled for arguments of other types, found f64\[2\], f64\[2\]"):
        loaded(np.ones(2), np.ones(2))
    with pytest.raises(rg.ArgumentError, match="missing a required argument: 'theta'"):
        loaded(np.ones(30))


def test_what_cannot_be_saved_says_so(tmp_path):
    def twice(x):
        return Point(x, x)

    compiled = rg.jit(twice).compile(1.0)
    with pytest.raises(rg.Unsupported, match="Point"):
        compiled.save(tmp_path / "p.rgx")


def test_files_that_are_not_whole_are_errors(tmp_path):
    path = tmp_path / "g.rgx"
    rg.grad(loss).compile(*args()).save(path)
    whole = path.read_bytes()
    for damaged, message in [
        (b"", "nothing that Retrograd has saved"), (b"import numpy", "nothing that Retrograd has saved"), (whole[:20], "cut off"), (whole[:-1], "cut off"),
        (whole[:200] + b"!" + whole[201:], "checksum"), (whole[:8] + b"\x63" + whole[9:], "form 99"),
    ]:
        path.write_bytes(damaged)
        with pytest.raises(rg.ArgumentError, match=message):
            rg.load(path)
    with pytest.raises(rg.ArgumentError, match="nothing.rgx"):
        rg.load(tmp_path / "nothing.rgx")


def test_the_note_of_a_file_is_json(tmp_path):
    compiled = rg.grad(loss).compile(*args())
    compiled.save(tmp_path / "g.rgx")
    note = json.loads(rg.load(tmp_path / "g.rgx")._executable.note())
    assert note["signature"] == ["loss", [["s", 1, False], ["theta", 1, False], ["n", 1, True]]]
