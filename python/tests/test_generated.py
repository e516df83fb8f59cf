"""Generated Python programs: the value is that of the plain function, or there is an error of ours. A failing seed prints its program.
`PROGRAMS=20000` runs more of them."""

import os

import numpy as np
import pytest

import generated_aliases
import generated_programs
import retrograd as rg

COUNT = int(os.environ.get("PROGRAMS", "300"))
FIRST = int(os.environ.get("FIRST", "0"))
SHARE = 25
TOLERANCE = 1e-9
WRITERS = {"programs": generated_programs.Writer, "aliases": generated_aliases.Writer}


def run(writer, seed, folder):
    """What became of a program: "right", "refused", or an AssertionError."""
    text = writer(seed).program()
    file = folder / f"program_{seed}.py"
    file.write_text(text)
    scope = {"__name__": "program"}
    exec(compile(text, str(file), "exec"), scope)
    rng = np.random.default_rng(seed)
    x, n = rng.normal(size=5) * 0.7, seed % 4
    try:
        with np.errstate(all="ignore"):
            expected = scope["f"](x.copy(), 0.7, n)
    except Exception as error:
        expected = error
    try:
        found = rg.jit(scope["f"])(x.copy(), 0.7, n)
    except rg.Error as error:
        assert not isinstance(error, rg.InternalError), f"{text}\nseed {seed}: {error}"
        return "refused", str(error)
    except Exception as error:
        assert isinstance(expected, Exception), f"{text}\nseed {seed}: {type(error).__name__}: {error}"
        return "refused", str(error)
    assert not isinstance(expected, Exception), f"{text}\nseed {seed}: expected {expected!r}, found {found}"
    assert np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True), f"{text}\nseed {seed}: expected {expected}, found {found}"
    if seed % 3 == 0 and writer.is_smooth(text) and isinstance(found, (float, np.floating)):
        try:
            check_gradient(scope["f"], x, n, rng.normal(size=5), f"{text}\nseed {seed}")
        except rg.Error as error:
            assert not isinstance(error, rg.InternalError), f"{text}\nseed {seed}: {error}"
            return "refused", f"gradient: {error}"
    return "right", ""


def check_gradient(f, x, n, direction, text):
    """Holds the gradient against differences along a direction, where those of two sizes agree: else the function has a kink there."""
    value = lambda h: float(f(x + h * direction, 0.7, n))
    try:
        with np.errstate(all="ignore"):
            coarse, fine = ((value(h) - value(-h)) / (2 * h) for h in (2e-5, 1e-5))
    except Exception:
        return
    if not np.isfinite([coarse, fine]).all() or abs(coarse - fine) > 1e-5 * max(1.0, abs(fine)) or abs(fine) > 1e6:
        return
    found = float(rg.grad(f)(x.copy(), 0.7, n) @ direction)
    assert abs(found - fine) <= 1e-4 * max(1.0, abs(fine)), f"{text}: gradient {found}, differences {fine}"


@pytest.mark.parametrize("share", range(FIRST, FIRST + COUNT, SHARE))
@pytest.mark.parametrize("writer", WRITERS)
def test_generated_programs(writer, share, tmp_path):
    found = [run(WRITERS[writer], seed, tmp_path)[0] for seed in range(share, share + SHARE)]
    assert found.count("right") > SHARE // 4, found
