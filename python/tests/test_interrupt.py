"""A run can be stopped by a signal, and refused by the machine."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import retrograd as rg


def scalar(x):
    for i in range(10**13):
        x = x * 0.999 + 0.001
    return x


def array(x):
    for i in range(10**13):
        x = np.sin(x)
    return x


def total(x):
    return np.sum(array(x))


def send(after, number):
    timer = threading.Timer(after, os.kill, (os.getpid(), number))
    timer.start()
    return timer


@pytest.mark.parametrize("f, x", [(scalar, 0.5), (array, np.ones(100))])
def test_interrupt_ends_a_run(f, x):
    started = time.monotonic()
    # A test run in the background starts with this signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer = send(0.5, signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            rg.jit(f)(x)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < 30


def test_the_exception_of_a_handler_ends_a_gradient():
    def handler(number, frame):
        raise TimeoutError("enough")

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        timer = send(0.5, signal.SIGUSR1)
        with pytest.raises(TimeoutError, match="enough"):
            rg.grad(total, budget="1 MB")(np.ones(3))
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_handler_that_returns_changes_nothing():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(time.monotonic()))

    def f(x):
        for i in range(10**8):
            x = x * 0.999 + 0.001
        return x

    try:
        expected = rg.jit(f)(0.5)
        timer = send(0.01, signal.SIGUSR1)
        assert rg.jit(f)(0.5) == expected
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(seen) == 1


def test_memory_that_the_machine_has_not_is_an_error():
    with pytest.raises(rg.OutOfMemory, match="out of memory: the plan needs"):
        rg.grad(total, strategy="keep_all")(np.ones(3))
