"""What is timed: a callable that computes a value, or a value and its gradient, with the memory it says it takes."""

import ctypes
import pathlib
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np

GCC = ["gcc", "-O3", "-march=native", "-shared", "-fPIC"]


@dataclass
class Contender:
    """One way to compute a program.

    `run()` returns (value, gradients), with `None` for the gradients when only the value is computed. `bytes_taken` counts results and
    everything in between, not the arguments; `seconds_first` is from the source to the first result; `clock()`, where there is one, gives the seconds of the last run inside the library.
    """

    who: str
    run: object
    bytes_taken: int | None = None
    seconds_first: float | None = None
    clock: object = None
    plan: str = ""
    seconds: list = field(default_factory=list)
    seconds_inside: list = field(default_factory=list)

    @property
    def best(self):
        return min(self.seconds)


@dataclass
class Part:
    """The same result by several contenders."""

    program: str
    name: str
    ours: list
    c: list
    jax: list
    numpy: list

    def contenders(self):
        return [*self.ours, *self.c, *self.jax, *self.numpy]


def build(source, *flags):
    """A shared library from a C file, and the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / (source.stem + ".so")
        start = time.perf_counter()
        subprocess.run([*GCC, *flags, "-o", target, source], check=True)
        return ctypes.CDLL(target), time.perf_counter() - start


def aligned(*shape):
    """Zeros that start at a multiple of 64 bytes, touched, so that no page is first seen while the clock runs."""
    count = int(np.prod(shape))
    buffer = np.zeros(count + 8)
    buffer[:] = 0.0
    first = (-buffer.ctypes.data // 8) % 8
    return buffer[first : first + count].reshape(shape)


def copied(array):
    """The array at a multiple of 64 bytes."""
    result = aligned(*array.shape)
    result[...] = array
    return result


def c_call(function, *arguments):
    """A call without arguments that returns the double of a C function: arrays go as pointers, ints as long, floats as double."""
    function.restype = ctypes.c_double
    kinds = {int: ctypes.c_long, float: ctypes.c_double, np.ndarray: lambda array: ctypes.c_void_p(array.ctypes.data)}
    converted = [argument if isinstance(argument, ctypes.Structure) else kinds[type(argument)](argument) for argument in arguments]
    return lambda keep=arguments: function(*converted)
