"""What an error says: the user's line with carets, the name as one writes it, the leaf of an argument, a traceback of the user's own frames."""

import pickle
import traceback

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import retrograd as rg


def refused(f, *args, transform=rg.grad):
    with pytest.raises(rg.Error) as caught:
        transform(f)(*args)
    return caught.value


def transformed(x):
    y = np.sin(x) + np.fft.fft(x) * 2
    return np.sum(y)


def inside_scipy(x):
    return np.sum(scipy.linalg.signm(x))


def special(x):
    return np.sum(2.0 * scipy.special.voigt_profile(x, 1.0, 1.0))


def test_carets_stand_below_what_is_refused():
    *_, line, carets = str(refused(transformed, np.ones(3))).splitlines()
    start = carets.index("^")
    assert line[start : start + carets.count("^")].startswith("np.fft.fft(x)")
    assert carets.strip("^ ") == ""


def test_names_are_those_one_writes():
    assert "scipy.special.voigt_profile is not supported" in str(refused(special, np.ones(3)))
    assert "np.fft.fft is not supported" in str(refused(transformed, np.ones(3)))


def test_errors_inside_of_libraries_are_at_the_users_line():
    error = refused(inside_scipy, np.eye(3))
    assert error.pos[0] == __file__ and "scipy.linalg.signm" in str(error)


def test_leaves_of_arguments_are_named():
    def loss(p):
        return p["n"] * p["w"][0]

    assert "argument `p['n']` of loss()" in str(refused(loss, {"w": [1.0], "n": 3}))
    assert "argument `p['w'][0]` of loss()" in str(refused(loss, {"w": [1 + 2j], "n": 3.0}))


def test_tracebacks_are_the_users_own():
    error = refused(transformed, np.ones(3))
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if rg.errors.is_ours(frame.filename)]
    # The call itself is one of ours; nothing between it and the user's function is.
    assert [frame.name for frame in ours] in (["__call__", "_call"], ["__call__"])
    assert frames[-1].name == "transformed"


def test_all_frames_are_shown_where_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(rg.errors, "show_frames", True)
    frames = traceback.extract_tb(refused(transformed, np.ones(3)).__traceback__)
    assert sum(rg.errors.is_ours(frame.filename) for frame in frames) > 4


def test_errors_are_pickled_whole():
    error = refused(transformed, np.ones(3))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.pos == error.pos
    with pytest.raises(rg.OverBudget) as caught:
        rg.grad(lambda x: np.sum(np.sin(x)), budget=8)(np.ones(1000))
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.needed == caught.value.needed and again.budget == 8
