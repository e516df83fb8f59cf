"""Compilations on disk: found by other processes, safe under several writers, never trusted."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import retrograd as rg
from retrograd import api, store

PROGRAM = """
import numpy as np, retrograd as rg
def loss(x):
    for i in range(20):
        x = np.tanh(x) + 0.1 * x
    return np.sum(x)
g = rg.value_and_grad(loss, budget=20000)
value, gradient = g(np.arange(100.0))
compiled = g.compile(np.arange(100.0))
print(repr(float(value)), gradient.tobytes().hex()[:64], compiled.plan.bytes_peak, "plan" in compiled.times.stages, compiled.plan.gap >= 0)
"""


@pytest.fixture
def folder(tmp_path):
    before = rg.cache_dir(tmp_path / "cache")
    yield tmp_path / "cache"
    rg.cache_dir(before)
    store._loaded.clear()


def run(folder, path):
    file = path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(file)], env={**os.environ, "RETROGRAD_CACHE_DIR": str(folder)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_another_process_finds_what_one_made(tmp_path):
    first = run(tmp_path / "cache", tmp_path)
    assert len(os.listdir(tmp_path / "cache")) == 1
    second = run(tmp_path / "cache", tmp_path)
    assert first[:3] == second[:3] and (first[3], second[3]) == ("True", "False") and first[4] == second[4] == "True"
    assert len(os.listdir(tmp_path / "cache")) == 1


def test_the_same_program_by_other_options_or_from_another_line_is_another(folder):
    x = np.ones(5)
    rg.jit(lambda x: np.sum(x**2))(x)
    rg.jit(lambda x: np.sum(x**2), exact=True)(x)
    rg.jit(lambda x: np.sum(x**2), budget="1 MB")(x)
    rg.grad(lambda x: np.sum(x**2))(x)
    rg.jit(lambda x: np.sum(x**2))(x)
    assert len(os.listdir(folder)) == 5


@pytest.mark.parametrize("content", [b"", b"nonsense", None, "other"])
def test_what_is_damaged_is_made_anew(folder, content):
    f = lambda x: np.sum(np.sin(x) ** 2)
    x = np.ones(7)
    expected = rg.grad(f)(x)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    if content == "other":
        rg.grad(lambda x: np.sum(np.cos(x)))(x)
        (other,) = [path for path in folder.iterdir() if path != file]
        file.write_bytes(other.read_bytes())
    else:
        file.write_bytes(whole[: len(whole) // 2] if content is None else content)
    store._loaded.clear()
    api._caches.clear()
    np.testing.assert_array_equal(rg.grad(f)(x), expected)
    assert file.read_bytes() == whole


def test_many_writers_leave_whole_files(folder):
    x = np.ones(9)
    f = lambda x: np.sum(np.exp(x) * x)
    found = []

    def work():
        store._loaded.clear()
        found.append(rg.grad(lambda x: f(x))(x))

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(found) == 8 and all(np.array_equal(one, found[0]) for one in found)
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    before = rg.cache_dir(tmp_path / "file")
    try:
        assert rg.grad(lambda x: x**3)(2.0) == 12.0
    finally:
        rg.cache_dir(before)
    with pytest.raises(rg.ArgumentError, match="`cache_dir` is the path of a directory"):
        rg.cache_dir(3)
