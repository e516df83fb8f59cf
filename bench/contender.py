"""What a program is, what is timed, and how C is built and called."""

import ctypes
import pathlib
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np

AS_IT_STANDS = ", not in tiles"
WITH_DISK = ", and a disk"
GCC = ["gcc", "-O3", "-march=native", "-shared", "-fPIC"]


@dataclass
class Program:
    """One program at one size: its arguments, its plain-NumPy forms, C and JAX that compute the same.

    `forms` maps a name to a plain-NumPy function; the first one defines the value. `argnums` are the arguments of the gradient, `None` where only the value is asked
    for. `c(args)` returns (contenders for the value, contenders for the gradient). `jax_losses` are what JAX differentiates, `jax_values` what it computes.
    A budget is `keep_all` or `auto` (no budget, that strategy), bytes in words, or the fraction that is left of what `keep_all` takes; bytes in words that end in
    `AS_IT_STANDS` are without tiles, those that end in `WITH_DISK` with 10 GB of a directory for states. `peers()` are other libraries: (losses that JAX differentiates, functions that return value and gradient).
    """

    args: tuple
    forms: dict
    argnums: tuple | None = None
    c: object = None
    jax_values: dict = field(default_factory=dict)
    jax_losses: dict = field(default_factory=dict)
    budgets: tuple = ("keep_all", "auto")
    peers: object = None
    numpy: bool = True
    tolerance: float = 1e-9


@dataclass
class Contender:
    """One way to compute a program.

    `run()` returns (value, gradients), with `None` for the gradients when only the value is computed. `bytes_taken` counts results and everything in between, not the
    arguments; `seconds_first` is from the source to the first result, `seconds_compile` to machine code, where that can be asked for without a run; `clock()`, where there is one, gives the seconds of the last run without the call from Python;
    `form` is ours: which of the program's functions it is.
    """

    who: str
    run: object
    bytes_taken: int | None = None
    seconds_first: float | None = None
    seconds_compile: float | None = None
    clock: object = None
    plan: str = ""
    form: str = ""
    side: str = ""
    seconds: list = field(default_factory=list)
    seconds_inside: list = field(default_factory=list)


def build(source, *flags):
    """A shared library from a C file, and the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / (source.stem + ".so")
        start = time.perf_counter()
        subprocess.run([*GCC, *flags, "-o", target, source, "-lm"], check=True)
        return ctypes.CDLL(target), time.perf_counter() - start


def aligned(*shape):
    """Zeros that start at a multiple of 64 bytes, touched, so that no page is first seen while the clock runs."""
    count = int(np.prod(shape))
    buffer = np.zeros(count + 8)
    buffer[:] = 0.0
    first = (-buffer.ctypes.data // 8) % 8
    return buffer[first : first + count].reshape(shape)


def copied(array):
    """The array at a multiple of 64 bytes; integers as they are."""
    if array.dtype != np.float64:
        return np.ascontiguousarray(array)
    result = aligned(*array.shape)
    result[...] = array
    return result


def c_call(function, *arguments):
    """A call without arguments that returns the double of a C function: arrays go as pointers, ints as long, floats as double."""
    function.restype = ctypes.c_double
    kinds = {int: ctypes.c_long, float: ctypes.c_double, np.ndarray: lambda array: ctypes.c_void_p(array.ctypes.data)}
    converted = [argument if isinstance(argument, ctypes.Structure) else kinds[type(argument)](argument) for argument in arguments]
    return lambda keep=arguments: function(*converted)


def hand_written(file, sizes, args, scratch, gradients, scratch_value=None, who="C", results=None):
    """The usual pair: `forward(sizes, args, scratch)` and `gradient(sizes, args, scratch, gradients)` of the C file beside a program.

    Scratch and gradients are shapes; the value is what the functions return, or the array of shape `results` behind the scratch.
    """
    library, seconds = build(pathlib.Path(file).with_suffix(".c"))
    args = [copied(x) if isinstance(x, np.ndarray) else x for x in args]
    bytes_of = lambda arrays: sum(array.nbytes for array in arrays)
    arrays = lambda shapes: [aligned(*shape) for shape in shapes]
    room = arrays(scratch if scratch_value is None else scratch_value) + ([] if results is None else [aligned(*results)])
    forward = c_call(library.forward, *sizes, *args, *room)
    value = (lambda: (forward(), None)) if results is None else (lambda: (forward(), (room[-1], None))[1])
    values = [Contender(who, value, bytes_of(room), seconds)]
    if gradients is None:
        return values, []
    room, out = arrays(scratch), arrays(gradients)
    backward = c_call(library.gradient, *sizes, *args, *room, *out)
    unpack = lambda: tuple(x if x.shape else x[()] for x in out)
    return values, [Contender(who, lambda: (backward(), unpack()), bytes_of(room) + bytes_of(out), seconds)]
