"""The errors: one hierarchy, each with the user's own file, line and source text."""

import builtins
import functools
import linecache
import os
import sys
import sysconfig
import types

import numpy as np

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Error(Exception):
    """Whatever Retrograd reports. `pos` is the user's (file, line), or None where there is none."""

    def __init__(self, message, pos=None):
        self.message = message
        self.pos = pos
        super().__init__(f"{message}\n  at {place(pos)}{caret(pos)}" if pos else message)

    def __reduce__(self):
        return _again, (type(self), self.args, self.__dict__)


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


class CheckError(Error):
    """A check failed: `rg.check`, or that of a function that has no answer. It is also an exception of the class that the check names."""


class LinAlgError(CheckError, np.linalg.LinAlgError):
    """A matrix is singular, or not positive definite."""


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


# What a failed check raises, by its tag.
_RAISED = {"": CheckError, "LinAlgError": LinAlgError}


def tag_of(raises):
    """The tag of a check that shall raise an exception of this class: the exception is that, and a `CheckError`.

    Builtin exceptions have their name as tag, so that it means the same wherever a compiled function is loaded; others are known to this process.
    """
    is_builtin = getattr(builtins, raises.__name__, None) is raises
    tag = raises.__name__ if is_builtin else f"{raises.__module__}.{raises.__qualname__}"
    if _RAISED.get(tag, CheckError) is CheckError or raises not in _RAISED[tag].__mro__:
        _RAISED[tag] = _also(raises)
    return tag


def _also(raises):
    """The class of exceptions that are a `CheckError` and one of these."""
    if issubclass(raises, CheckError):
        return raises
    if issubclass(CheckError, raises):
        return CheckError
    return type(raises.__name__, (CheckError, raises), {"__doc__": raises.__doc__, "__module__": raises.__module__})


def of_check(message, pos, tag):
    """The exception of a failed check; a tag that nobody knows here is an attribute of it."""
    raised = _RAISED.get(tag)
    builtin = getattr(builtins, tag, None)
    if raised is None and isinstance(builtin, type) and issubclass(builtin, Exception):
        raised = _RAISED[tag_of(builtin)]
    error = (raised or CheckError)(message, pos)
    error.tag = tag
    return error


# What messages of the compiler begin with, where the class of the exception says it.
_SAID = ("argument error: ", "shape error: ", "unsupported: ", "over budget: ", "index out of bounds: ", "missing derivative rule: ", "type error: ")

# Ops as a user writes them.
_WRITTEN = {
    "in `rem`": "in `//` or `%`", "in `div`": "in `//`",
    **{f"`{row}` has no": "an external function without `vjp` has no" for row in ("external", "pure_external", "recorded")},
}


def from_native(kind, message, file, line, needed=None, budget=None, tag=None):
    """The exception for an error of the compiler; `_native` calls it."""
    pos = (file, line) if file is not None else None
    if kind != "Check":
        message = next((message[len(said) :] for said in _SAID if message.startswith(said)), message)
        for op, written in _WRITTEN.items():
            message = message.replace(op, written)
    if kind == "Check":
        return of_check(message, pos, tag)
    if kind == "OverBudget":
        return OverBudget(message, pos, needed, budget)
    return _KINDS[kind](message, pos)


def place(pos):
    """`file:line: source text`."""
    file, line = pos
    text = linecache.getline(file, line).strip()
    return f"{file}:{line}: {text}" if text else f"{file}:{line}"


def caret(pos):
    """A line with carets below what runs now of the user's line, after `  at ` and the place; nothing where that is another line, or Python cannot tell."""
    frame = _users_frame()
    if frame is None or (frame.f_code.co_filename, frame.f_lineno) != tuple(pos) or not hasattr(frame.f_code, "co_positions"):
        return ""
    first, last, start, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line = linecache.getline(*pos).rstrip("\n")
    if None in (first, last, start, end) or first != pos[1] or not line.strip():
        return ""
    # Columns are bytes of the source.
    start, end = (len(line.encode()[:column].decode(errors="replace")) for column in (start, end if last == first else len(line.encode())))
    if end - start >= len(line.strip()):
        return ""
    margin = len(line) - len(line.lstrip())
    return "\n" + " " * (len(f"  at {pos[0]}:{pos[1]}: ") + start - margin) + "^" * max(end - start, 1)


# Whether tracebacks show what happens inside of this package.
show_frames = False


def trimmed(error):
    """The error with a traceback that has no frames of this package or of NumPy, unless `rg.errors.show_frames` asks for them."""
    if show_frames:
        return error
    kept = []
    at = error.__traceback__
    while at is not None:
        if not is_hidden(at.tb_frame.f_code.co_filename):
            kept.append(at)
        at = at.tb_next
    chain = None
    for at in reversed(kept):
        chain = types.TracebackType(chain, at.tb_frame, at.tb_lasti, at.tb_lineno)
    return error.with_traceback(chain)


def _again(kind, args, state):
    """An error that was pickled."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def is_ours(file):
    """Whether a file is part of this package."""
    return file.startswith(_PACKAGE)


@functools.cache
def is_hidden(file):
    return is_ours(file) or f"{os.sep}numpy{os.sep}" in file or file.startswith("<__array_function__")


@functools.cache
def _whose(file):
    return "ours" if is_hidden(file) else "a library's" if is_library(file) else "the user's"


def _users_frame():
    """The innermost frame of the user's; of an installed package where there is no other."""
    frame, installed = sys._getframe(1), None
    while frame is not None:
        whose = _whose(frame.f_code.co_filename)
        if whose == "the user's":
            return frame
        if whose == "a library's":
            installed = installed or frame
        frame = frame.f_back
    return installed


_LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


@functools.cache
def is_library(file):
    """Whether a file belongs to Python or to an installed package: what happens there is told at the line that called it."""
    return file.startswith((*_LIBRARIES, "<frozen")) or f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file


def here():
    """The (file, line) that runs now in the user's code: the innermost frame outside of this package and of all that is installed."""
    frame = _users_frame()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
