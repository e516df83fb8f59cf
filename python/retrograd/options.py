"""What every transformation can be told besides its function: how much memory there is, and how code is made and run."""

import inspect
import operator
import os
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from . import errors

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = {
    "budget": (None, 'bytes that a run may take ("16 MB", or an int); it never changes a bit of the result. None is no limit but what the machine can spare.'),
    "strategy": (None, '`rg.auto()` unless told; `rg.keep_all()`, `rg.revolve()` and their like, or a name.'),
    "backend": ("cranelift", 'who makes the machine code, with the same bits: "cranelift", which is part of Retrograd; "llvm", or "llvm:PATH" '
                "of a libLLVM, whose code is faster and takes longer to make; or \"auto\", which is llvm where a libLLVM is found. \"cranelift:narrow\" has vectors of 128 bits alone, as machines without longer ones do."),
    "spill": (None, "a directory for states of loops that the budget has no room for: what is faster to read again than to compute goes there, and nothing is left there after a run."),
    "spill_budget": (None, 'bytes for one run in that directory ("10 GB").'),
    "threads": (None, "how many work on large arrays, as many as there are cores unless told; results do not depend on it."),
    "exact": (False, "round every operation as it is written, and add in that order. Unless True, a product that is added may be rounded together with the sum, "
              "where nothing else sees the product, and sums of products of repeated arrays are contractions."),
    "fast_math": (None, '"egraph": elementwise arithmetic takes the form with the least work that laws of real numbers give, before it is differentiated. Values change within '
                  "rounding, as long as none on the way leaves the range of floats; inputs are taken for finite numbers, and a law is used only where its conditions are known to hold."),
    "static_argnums": (None, "positions of arguments that decide about the Program and are no inputs, as an int or a tuple: there is a compilation for every value of them."),
    "static_argnames": (None, "the same by name, as a string or a tuple."),
    "progress": (None, "called with an `rg.Progress` during long runs, at most ten times a second; an exception of it ends the run."),
}


MOST_THREADS = 4096


def integer(name, number, least, most, words):
    """An int from `least` to `most`, of whatever kind; `words` say in the error what it is."""
    try:
        found = None if isinstance(number, (bool, np.bool_)) else operator.index(number)
    except TypeError:
        found = None
    if found is None or not least <= found <= most:
        raise errors.ArgumentError(f"`{name}` is {words}, found {number!r}")
    return found


def _bytes(name, given):
    """Bytes as an int, or words that the compiler reads."""
    return given if given is None or isinstance(given, str) else integer(name, given, 0, 2**64 - 1, 'an int of bytes or a string such as "16 MB"')


def _text(name, given, words):
    if not isinstance(given, str):
        raise errors.ArgumentError(f"`{name}` is {words}, found {given!r}")
    return given


def directory(name, given):
    """The path of a directory, or None."""
    if given is None:
        return None
    try:
        path = os.fspath(given)
    except TypeError:
        path = ""
    if not path or not isinstance(path, str):
        raise errors.ArgumentError(f"`{name}` is the path of a directory, found {given!r}")
    return path


class Strategy:
    """A memory strategy by name, with its options."""

    def __init__(self, name, **options):
        self.name, self.options = name, options

    def __repr__(self):
        return f"rg.{self.name}({', '.join(f'{key}={value}' for key, value in self.options.items())})"

    def with_values(self, values):
        """The same with fates of named values; what the user names stays."""
        named = {**values, **self.options.get("values", {})}
        return Strategy("user", values=named, loops=self.options.get("loops", {})) if named else self

    def __eq__(self, other):
        return isinstance(other, Strategy) and (self.name, self.options) == (other.name, other.options)

    def native(self):
        """(name, numbers, fates of values, fates of loops), as the compiler takes it."""
        named = {key: [(str(name), str(fate)) for name, fate in self.options.get(key, {}).items()] for key in ("values", "loops")}
        numbers = [(key, number) for key, number in self.options.items() if key not in named]
        return self.name, numbers, named["values"], named["loops"]


class Options:
    """The options by name, checked."""

    def __init__(self, given):
        unknown = [name for name in given if name not in OPTIONS]
        if unknown:
            raise errors.ArgumentError(f"there is no option `{unknown[0]}`; there are {', '.join(OPTIONS)}")
        values = {name: given.get(name, default) for name, (default, _) in OPTIONS.items()}
        strategy, threads, progress = values["strategy"], values["threads"], values["progress"]
        if (values["spill"] is None) != (values["spill_budget"] is None):
            raise errors.ArgumentError('`spill` is a directory and `spill_budget` the bytes for a run there ("10 GB"): both or neither')
        if progress is not None and not callable(progress):
            raise errors.ArgumentError(f"`progress` is called with an `rg.Progress`, found {progress!r}")
        most = f"an int from 1 to {MOST_THREADS}, or None for as many as there are cores"
        self.threads = None if threads is None else integer("threads", threads, 1, MOST_THREADS, most)
        named = strategy is None or isinstance(strategy, Strategy)
        self.strategy = (strategy or Strategy("auto")) if named else Strategy(_text("strategy", strategy, "one of `rg.auto()` and its like, or a name"))
        self.budget, self.progress = _bytes("budget", values["budget"]), progress
        self.backend = _text("backend", values["backend"], 'a name: "cranelift", "llvm", "llvm:PATH" or "auto"')
        spill = directory("spill", values["spill"])
        self.spill = None if spill is None else (spill, _bytes("spill_budget", values["spill_budget"]), None)
        if not isinstance(values["exact"], bool):
            raise errors.ArgumentError(f"`exact` is True or False, found {values['exact']!r}")
        self.exact = values["exact"]
        if values["fast_math"] not in (None, "egraph"):
            raise errors.ArgumentError(f'`fast_math` is None or "egraph", found {values["fast_math"]!r}')
        if values["fast_math"] and self.exact:
            raise errors.ArgumentError("`exact` rounds every operation as it is written, and `fast_math` writes others: one of them, not both")
        self.fast_math = values["fast_math"]
        numbers, names = values["static_argnums"], values["static_argnames"]
        numbers = () if numbers is None else numbers if isinstance(numbers, (tuple, list)) else (numbers,)
        self.static_numbers = tuple(integer("static_argnums", number, -1000, 1000, "an int or a tuple of ints") for number in numbers)
        names = () if names is None else names if isinstance(names, (tuple, list)) else (names,)
        self.static_names = tuple(_text("static_argnames", name, "a string or a tuple of strings") for name in names)

    def limits(self):
        """Bytes of memory, and the directory with its bytes."""
        return self.budget, self.spill

    def machine(self):
        return self.backend, self.threads


def takes_options(function: F) -> F:
    """Tells the options in the documentation and the signature of a function that takes them by `**options`."""
    lines = (textwrap.fill(f"{name}: {words}", 120, initial_indent="    ", subsequent_indent="        ") for name, (_, words) in OPTIONS.items())
    function.__doc__ = inspect.cleandoc(function.__doc__) + "\n\nOptions:\n" + "\n".join(lines)
    signature = inspect.signature(function)
    plain = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, (default, _) in OPTIONS.items()]
    function.__signature__ = signature.replace(parameters=plain + named)
    return function
