"""Whatever an option is given, it is served or refused with one argument error, before anything runs."""

import numpy as np
import pytest

import retrograd as rg


def loss(x):
    for i in range(20):
        x = x + 0.1 * np.tanh(x)
    return np.sum(x)


X = np.linspace(0.1, 0.9, 5)

REFUSED = {
    "threads": [0, -1, 1.5, True, "a", 4097, 2**70, [1], np.float64(2.0)],
    "budget": [True, False, -1, 1.5, 2**64, 2**70, "", "-1", "5 parsecs", "nan", [1], b"1 MB"],
    "backend": [5, None, True, "", "gcc", b"cranelift"],
    "strategy": [5, "", "periodic(0)", True, ["auto"]],
    "progress": [5, "print", True],
    "exact": [5, "yes", None],
}


@pytest.mark.parametrize("option, value", [(option, value) for option, values in REFUSED.items() for value in values], ids=repr)
def test_an_option_refuses_hostile_values(option, value):
    with pytest.raises(rg.errors.ArgumentError):
        rg.grad(loss, **{option: value})(X)


@pytest.mark.parametrize("directory", [5, "", True, b"/tmp", ["/tmp"]], ids=repr)
def test_spill_is_a_directory(directory):
    with pytest.raises(rg.errors.ArgumentError):
        rg.grad(loss, budget=700, spill=directory, spill_budget="1 MB")(X)


@pytest.mark.parametrize("limit", REFUSED["budget"], ids=repr)
def test_spill_budget_is_bytes(limit, tmp_path):
    with pytest.raises(rg.errors.ArgumentError):
        rg.grad(loss, budget=700, spill=tmp_path, spill_budget=limit)(X)


@pytest.mark.parametrize("period", [-1, 0, 1.7, "a", True, 2**63, 2**70, [1]], ids=repr)
def test_a_period_is_a_positive_int(period):
    with pytest.raises(rg.errors.ArgumentError):
        rg.periodic(period)


@pytest.mark.parametrize("fates", [5, "keep", [("a", "keep")]], ids=repr)
def test_fates_are_dicts(fates):
    with pytest.raises(rg.errors.ArgumentError):
        rg.user(values=fates)
    with pytest.raises(rg.errors.ArgumentError):
        rg.user(loops=fates)


@pytest.mark.parametrize("shape", [(-1,), -1, (1.5,), ("a",), (True,), (2**63,), (2**70,), None, (None,)], ids=repr)
def test_a_spec_has_extents(shape):
    with pytest.raises(rg.errors.ArgumentError):
        rg.spec(shape)


def test_a_spec_has_an_element_type():
    with pytest.raises(rg.errors.ArgumentError):
        rg.spec((2,), "nonsense")


@pytest.mark.parametrize("shape", [(1,) * 9, (1,) * 33, (2**40, 2**40), (2**62, 4)], ids=repr)
def test_types_that_no_array_has_are_refused(shape):
    with pytest.raises((rg.errors.Unsupported, rg.errors.ShapeError)):
        rg.jit(lambda x: np.sum(x)).plan(rg.spec(shape))


def test_many_axes_inside_of_a_function_are_refused():
    with pytest.raises(rg.errors.Error):
        rg.jit(lambda x: np.sum(np.reshape(x, (1,) * 33)))(np.ones(1))


def test_a_range_of_too_many_steps_is_refused():
    def f(x):
        for i in range(2**63):
            x = x + 1.0
        return np.sum(x)

    with pytest.raises(rg.errors.ArgumentError):
        rg.grad(f)(X)


def test_a_result_that_there_is_no_memory_for_is_an_error():
    with pytest.raises(rg.errors.OutOfMemory):
        rg.jit(lambda x: x + np.ones(2**40))(1.0)


def test_an_int_of_numpy_serves():
    expected = rg.grad(loss)(X)
    found = rg.grad(loss, threads=np.int64(2), budget=np.int32(100_000), strategy=rg.periodic(np.int16(3)))(X)
    assert np.array_equal(found, expected)


def test_a_file_whose_note_is_nonsense_is_refused(tmp_path):
    path = tmp_path / "loss.rgx"
    compiled = rg.grad(loss).compile(X)
    for note in ["", "5", "{}", '{"signature": 5}']:
        compiled._executable.save(str(path), note)
        with pytest.raises(rg.errors.ArgumentError):
            rg.load(path)
