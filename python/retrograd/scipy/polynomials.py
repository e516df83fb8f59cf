"""Smooth functions of one variable as polynomials on pieces of equal length; `tools/special_tables.py` makes their coefficients."""

import functools
import pathlib

import numpy as np

from ..array import Array, traced
from ..trace import current


@functools.cache
def _stored():
    with np.load(pathlib.Path(__file__).with_name("tables.npz")) as file:
        return {name: file[name] for name in file.files}


def number(name):
    """A stored number."""
    return _stored()[name]


def piecewise(name, u):
    """The function `name` at u, which is inside of its range wherever the result is used."""
    coefficients, (low, high) = _stored()[name], _stored()[f"{name}/range"]
    pieces, count = coefficients.shape
    scale = pieces / (high - low)
    place = (u - low) * scale
    # NaN and what lies outside of the range read a piece, too.
    piece = np.where(place >= 0, np.minimum(np.floor(place), pieces - 1), 0.0)
    t = 2.0 * (place - piece) - 1.0
    index = piece.astype(np.int64)
    total = _picked(coefficients[:, 0], index)
    for k in range(1, count):
        total = total * t + _picked(coefficients[:, k], index)
    return total


def _picked(column, index):
    """A coefficient for each element; indices are inside of the column."""
    if not isinstance(index, Array):
        return column[index]
    trace = current()
    return traced(trace.op("gather", [trace.constant(np.ascontiguousarray(column)), index.handle()], axis=[0]))
