"""What compilations and runs take, what is found in the cache, and how far a run is."""

import threading
import time

import numpy as np
import pytest

import retrograd as rg


def make(scale):
    def f(x):
        for i in range(5):
            x = np.sin(x * scale)
        return np.sum(x)

    return rg.value_and_grad(f)


def test_a_function_that_is_traced_again_is_compiled_once():
    rg.cache_clear()
    x = np.ones(3)
    first, second = make(1.5).compile(x), make(1.5).compile(x)
    assert rg.cache_info() == (1, 1, 1, rg.cache_info().capacity)
    assert not first.times.cached and second.times.cached
    assert list(first.times.stages) == ["trace", "opt", "diff", "freeze", "plan", "lower", "jit"]
    assert list(second.times.stages) == ["trace"]
    assert first.times.seconds > second.times.seconds > 0
    assert "found in the cache" in repr(second.times)
    assert first(x)[1].tobytes() == second(x)[1].tobytes()
    make(2.5)(x)
    make(1.5)(np.ones(4))
    assert rg.cache_info()[:2] == (1, 3)
    make(2.5)(x)
    assert rg.cache_info()[:2] == (2, 3)


def test_what_a_run_takes_is_counted_on_demand():
    def total(x):
        return np.sum(x)

    compiled = rg.jit(total).compile(np.ones(100))
    assert compiled.stats is None
    compiled(np.ones(100))
    assert compiled.stats.bytes_peak == compiled.plan.bytes_peak and compiled.stats.nests is None
    counted = compiled.count(np.ones(100))
    assert (counted.nests, counted.calls, counted.bytes_read, counted.bytes_written) == (1, 0, 800, 8)
    assert repr(counted).startswith("Stats(bytes_peak=0, seconds=") and "bytes_read=800" in repr(counted)


def test_bytes_moved_grow_with_steps_not_with_the_array_where_it_is_written_in_place():
    def f(x, n):
        for i in range(n):
            x[i] = x[i] * 2.0
        return x[0]

    moved = [rg.jit(f).compile(np.ones(size), 5).count(np.ones(size), n).bytes_written for size, n in [(1000, 5), (1000, 6)]]
    assert moved[1] - moved[0] == 8


def test_a_long_run_says_how_far_it_is():
    told = []

    def f(x):
        for i in range(2_000_000):
            x = np.tanh(np.sin(x * 1.1))
        return x

    compiled = rg.grad(f, progress=told.append).compile(0.3)
    begin = time.perf_counter()
    compiled(0.3)
    seconds = time.perf_counter() - begin
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions) and all(0 <= fraction <= 1 for fraction in fractions)
    assert len(told) <= 10 * seconds + 1
    assert told or seconds < 0.5
    if told:
        assert told[0].steps == 2_000_000 and f"of {told[0].parts}, step " in str(told[0])


def test_an_exception_of_progress_ends_the_run():
    def stop(progress):
        raise RuntimeError("enough")

    def endless(x):
        while x < 1.0:
            x = x * 0.5
        return x

    with pytest.raises(RuntimeError, match="enough"):
        rg.jit(endless, progress=stop)(0.5)


def test_runs_on_several_threads_report_for_themselves():
    def f(x):
        for i in range(1_500_000):
            x = np.tanh(np.sin(x * 1.1))
        return x

    told = {}
    threads = []
    for name in range(2):
        told[name] = []
        run = rg.jit(f, progress=told[name].append)
        threads.append(threading.Thread(target=run, args=(0.1 * name,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for reports in told.values():
        assert [r.fraction for r in reports] == sorted(r.fraction for r in reports)
