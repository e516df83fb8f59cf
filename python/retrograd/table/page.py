"""The page of the documentation about NumPy's functions, made of the table and its samples."""

import numpy as np

from .. import functions as front
from ..rules import FUNCTIONS, name_of
from .refused import REFUSED

_NAMESPACES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.lib.stride_tricks": np.lib.stride_tricks}


def functions():
    """(how one writes a function of arrays, the function), of all that NumPy has."""
    for space, module in _NAMESPACES.items():
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if not name.startswith("_") and (isinstance(function, (type(np.sum), np.ufunc)) or callable(function) and not isinstance(function, type) and function in front.CREATION):
                yield f"{space}.{name}", function


def is_covered(function):
    return function in FUNCTIONS or function in front.UFUNCS or function in front.CREATION


def topic(function):
    """The part of the table that a function stands in."""
    if function in front.UFUNCS:
        return "elementwise"
    if function in front.CREATION:
        return "creation"
    return FUNCTIONS[function].rule.__module__.rsplit(".", 1)[-1].replace("functions", "basic")


def markdown(samples, forms):
    """The page. Samples are what the tests run: value, first and second derivatives, in float64 and float32."""
    listed = dict(functions())
    covered = {name: function for name, function in listed.items() if is_covered(function)}
    refused = {name: function for name, function in listed.items() if function in REFUSED}
    lines = [
        "# NumPy on traced arrays", "",
        "Made by `BLESS=1 pytest python/tests/test_table.py -k page` from the table of functions and its samples; a test holds it current.", "",
        f"{len(covered)} of {len(listed)} functions of arrays are covered; the others are refused by name, with the reason below. Every sample is a test: its value is",
        "NumPy's, in float64 and float32, and its derivatives of first and second order agree with finite differences.", "",
        "## Forms", "", "| form | samples |", "|---|---|",
        *(f"| {name} | {_shown(texts)} |" for name, texts in forms.items()), "",
    ]
    for part in sorted({topic(function) for function in covered.values()}):
        rows = [(name, function) for name, function in covered.items() if topic(function) == part]
        lines += [f"## {part.capitalize()}", "", "| function | samples |", "|---|---|", *(f"| `{name}` | {_shown(_samples(samples, name, function))} |" for name, function in rows), ""]
    lines += ["## Refused", "", "| function | why |", "|---|---|", *(f"| `{name}` | {REFUSED[function]} |" for name, function in refused.items()), ""]
    return "\n".join(lines)


def _samples(samples, name, function):
    return samples.get(name) or samples.get(name_of(function)) or []


def _shown(texts):
    """As many samples as fit a line."""
    shown, length = [], 0
    for text in texts:
        length += len(text) + 4
        if shown and length > 100:
            break
        shown.append("`" + text.replace("|", "\\|") + "`")
    return ", ".join(shown)
