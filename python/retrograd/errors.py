"""The errors: one hierarchy, each with the user's own file, line and source text."""

import linecache
import os
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Error(Exception):
    """Whatever Retrograd reports. `pos` is the user's (file, line), or None where there is none."""

    def __init__(self, message, pos=None):
        self.message = message
        self.pos = pos
        super().__init__(f"{message}\n  at {place(pos)}" if pos else message)


class ShapeError(Error, ValueError):
    """Shapes do not fit."""


class DTypeError(Error, TypeError):
    """Element types do not fit."""


class ArgumentError(Error, TypeError):
    """An argument has the wrong kind, number or range."""


class Unsupported(Error, NotImplementedError):
    """Something that Retrograd does not do (yet); it says so before anything runs."""


class BoundsError(Error, IndexError):
    """An index is out of bounds."""


class MissingRule(Error):
    """An op has no derivative rule."""


class DivisionByZero(Error, ZeroDivisionError):
    """An integer was divided by zero."""


class NotFinite(Error, FloatingPointError):
    """A NaN or an infinity came out of numbers, in a run under `rg.debug_nan`."""


class OutOfMemory(Error, MemoryError):
    """The machine has not the memory that the plan needs."""


class DiskError(Error, OSError):
    """States of a run could not be written to the directory of `spill`, or read from it."""


class InternalError(Error):
    """A bug of Retrograd, not of the function: please report it."""


class OverBudget(Error):
    """The budget cannot be met; `needed` is the smallest that can, in bytes."""

    def __init__(self, message, pos=None, needed=None, budget=None):
        super().__init__(message, pos)
        self.needed = needed
        self.budget = budget


_KINDS = {
    "Shape": ShapeError,
    "DType": DTypeError,
    "Argument": ArgumentError,
    "MissingRule": MissingRule,
    "Unsupported": Unsupported,
    "Bounds": BoundsError,
    "DivisionByZero": DivisionByZero,
    "NotFinite": NotFinite,
    "OutOfMemory": OutOfMemory,
    "Disk": DiskError,
    "Interrupted": Error,
    "Parse": ArgumentError,
    "Verify": InternalError,
}


def from_native(kind, message, file, line, needed=None, budget=None):
    """The exception for an error of the compiler; `_native` calls it."""
    pos = (file, line) if file is not None else None
    if kind == "OverBudget":
        return OverBudget(message, pos, needed, budget)
    return _KINDS[kind](message, pos)


def place(pos):
    """`file:line: source text`."""
    file, line = pos
    text = linecache.getline(file, line).strip()
    return f"{file}:{line}: {text}" if text else f"{file}:{line}"


def is_ours(file):
    """Whether a file is part of this package."""
    return file.startswith(_PACKAGE)


def here():
    """The (file, line) that runs now in the user's code: the innermost frame outside this package and NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_ours(file) and f"{os.sep}numpy{os.sep}" not in file and not file.startswith("<__array_function__"):
            return (file, frame.f_lineno)
        frame = frame.f_back
    return None
