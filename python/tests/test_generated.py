"""Generated Python programs: the value is that of the plain function, or there is an error of ours. A failing seed prints its program.
`PROGRAMS=20000` runs more of them. A program may have no end (a list that grows while it is iterated): then an error of ours is right."""

import contextlib
import os
import signal

import numpy as np
import pytest

import generated_aliases
import generated_programs
import retrograd as rg

COUNT = int(os.environ.get("PROGRAMS", "300"))
FIRST = int(os.environ.get("FIRST", "0"))
SHARE = 25
TOLERANCE, ROUNDED = 1e-9, 1e-6
PLAIN_SECONDS, SEED_SECONDS = 5, 60
WRITERS = {"programs": generated_programs.Writer, "aliases": generated_aliases.Writer}


class Endless(Exception):
    """A program did not end in its time."""


@contextlib.contextmanager
def within(seconds, message):
    """Ends what takes longer by an error."""

    def ends(_signal, _frame):
        raise Endless(message)

    before = signal.signal(signal.SIGALRM, ends)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
        with np.errstate(all="ignore"), within(PLAIN_SECONDS, "the plain function has no end"):
            expected = scope["f"](x.copy(), 0.7, n)
    except Exception as error:
        expected = error
    limit = f"{text}\nseed {seed}: more than {SEED_SECONDS} s"
    try:
        with within(SEED_SECONDS, limit):
            found = rg.jit(scope["f"])(x.copy(), 0.7, n)
    except Endless:
        raise AssertionError(limit) from None
    except rg.Error as error:
        assert not isinstance(error, rg.InternalError), f"{text}\nseed {seed}: {error}"
        return "refused", str(error)
    except Exception as error:
        assert isinstance(expected, Exception), f"{text}\nseed {seed}: {type(error).__name__}: {error}"
        return "refused", str(error)
    assert not isinstance(expected, Exception), f"{text}\nseed {seed}: expected {expected!r}, found {found}"
    if not is_close(found, expected, TOLERANCE) and is_close(found, expected, ROUNDED):
        # A product that is added is rounded together with the sum, which in float32 shows; as it is written it is not.
        with within(SEED_SECONDS, limit):
            found = rg.jit(scope["f"], exact=True)(x.copy(), 0.7, n)
    assert is_close(found, expected, TOLERANCE), f"{text}\nseed {seed}: expected {expected}, found {found}"
    if seed % 3 == 0 and writer.is_smooth(text) and isinstance(found, (float, np.floating)):
        try:
            with within(SEED_SECONDS, limit):
                check_gradient(scope["f"], x, n, rng.normal(size=5), f"{text}\nseed {seed}")
        except rg.Error as error:
            assert not isinstance(error, rg.InternalError), f"{text}\nseed {seed}: {error}"
            return "refused", f"gradient: {error}"
    return "right", ""


def is_close(found, expected, tolerance):
    return np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def check_gradient(f, x, n, direction, text):
    """Holds the gradient against differences along a direction, where those of two sizes agree: else the function has a kink there."""
    value = lambda h: float(f(x + h * direction, 0.7, n))
    try:
        with np.errstate(all="ignore"):
            coarse, fine = ((value(h) - value(-h)) / (2 * h) for h in (2e-5, 1e-5))
            size = abs(value(0.0))
    except Exception:
        return
    if size > 1e6:
        return  # its roundings are larger than its differences
    if not np.isfinite([coarse, fine]).all() or abs(coarse - fine) > 1e-5 * max(1.0, abs(fine)) or abs(fine) > 1e6:
        return
    found = float(rg.grad(f)(x.copy(), 0.7, n) @ direction)
    if np.isnan(found) and not is_finite_throughout(f, x, n):
        return  # `y / (x / 0.0)` has the value 0 and, by the chain rule, no derivative
    assert abs(found - fine) <= 1e-4 * max(1.0, abs(fine)), f"{text}: gradient {found}, differences {fine}"


def is_finite_throughout(f, x, n):
    """Whether nothing that the plain function computes is infinite or NaN, as far as NumPy says."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            f(x.copy(), 0.7, n)
    except FloatingPointError:
        return False
    return True


@pytest.mark.parametrize("share", range(FIRST, FIRST + COUNT, SHARE))
@pytest.mark.parametrize("writer", WRITERS)
def test_generated_programs(writer, share, tmp_path):
    found = [run(WRITERS[writer], seed, tmp_path)[0] for seed in range(share, share + SHARE)]
    assert found.count("right") > SHARE // 4, found


def test_what_single_precision_rounds_is_right_as_it_is_written(tmp_path):
    # `a / (1.0 + a * a)` of a float32
    assert run(generated_programs.Writer, 30157, tmp_path)[0] == "right"


def test_a_program_without_end_is_refused(tmp_path):
    # `for i1 in xs: … xs.append(a)`
    what, message = run(generated_aliases.Writer, 2036, tmp_path)
    assert what == "refused" and "more than 10,000 steps" in message


def test_a_seed_that_does_not_end_is_named(tmp_path, monkeypatch):
    class Slow:
        def __init__(self, seed):
            pass

        def program(self):
            return "import time\ndef f(x, s, n):\n    time.sleep(5.0)\n    return s\n"

    monkeypatch.setattr("test_generated.PLAIN_SECONDS", 0.2)
    monkeypatch.setattr("test_generated.SEED_SECONDS", 0.2)
    with pytest.raises(AssertionError, match="seed 7: more than 0.2 s"):
        run(Slow, 7, tmp_path)
