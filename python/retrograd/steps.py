"""`scan` and `map`, with the signatures of `jax.lax`: loops that emit rows. Plain `for` statements need neither."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import errors, tree, views
from .array import is_weak, lift, result_dtype, traced
from .custom import kind_of
from .outcome import readable
from .trace import Frame, current


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None) -> tuple[Any, Any]:
    """`carry, y = f(carry, x)` over the rows of `xs`: the last carry, and all y put together along a new leading axis."""
    rows, structure = ([], None) if xs is None else tree.flatten(xs)
    counts = {int(np.shape(row)[0]) if np.ndim(row) else None for row in rows} | ({int(length)} if length is not None else set())
    if len(counts) != 1 or None in counts:
        raise errors.ShapeError(f"scan needs arrays with equally many rows, or a length; found {counts or 'neither'}", errors.here())
    (count,) = counts
    if current() is None:
        return _plain(f, init, rows, structure, count)
    trace, pos = current(), errors.here()
    leaves, shape = tree.flatten(init)
    kinds = [kind_of(leaf) for leaf in leaves]
    streams = [lift(row) for row in rows]
    settled = False
    while not settled:
        starts = [views.convert(trace, lift(leaf), kind.dtype) for leaf, kind in zip(leaves, kinds)]
        _, carries, parts = trace.tracer.begin_for(trace.constant(np.int64(count)), starts, pos, streams)
        frame = Frame("for", pos)
        trace.push(frame)
        boxes = [traced(handle, scalar=kind.scalar, weak=kind.weak) for handle, kind in zip(carries, kinds)]
        x = None if xs is None else tree.unflatten(structure, [traced(handle) for handle in parts])
        following, y = readable(f)(tree.unflatten(shape, boxes), x)
        if frame.mutated:
            raise errors.Unsupported("the function of a scan changes an array from outside in place; make it part of the carry", pos)
        nexts = tree.flatten_as(shape, following)
        if nexts is None:
            raise errors.ArgumentError("the carry of a scan must stay nested as it starts", pos)
        found = [_widened(kind, box, end, pos) for kind, box, end in zip(kinds, boxes, nexts)]
        settled = found == kinds
        if not settled:
            kinds = found
            trace.pop(frame)
            trace.tracer.abandon()
    ys, emitted = ([], None) if y is None else tree.flatten(y)
    handles = [views.convert(trace, lift(leaf), kind.dtype) for leaf, kind in zip(nexts, kinds)]
    results = trace.tracer.end_for(handles, [lift(leaf) for leaf in ys])
    trace.pop(frame)
    ends = tree.unflatten(shape, [traced(handle, scalar=kind.scalar, weak=kind.weak) for handle, kind in zip(results, kinds)])
    return ends, None if y is None else tree.unflatten(emitted, [traced(handle) for handle in results[len(kinds) :]])


def _widened(kind, box, end, pos):
    """The kind of a carry that starts as `box` and goes on as `end`. As in a `for` statement, numbers take a wider element type."""
    common = result_dtype(box, end)
    if common != kind.dtype and not kind.scalar:
        raise errors.DTypeError(f"the carry of a scan changes its element type: expected {kind.dtype}, found {common}", pos)
    return kind._replace(dtype=common, weak=kind.weak and is_weak(end))


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """`f(x)` for every row x of `xs`, put together along a new leading axis."""
    read = f if current() is None else readable(f)
    return scan(lambda carry, x: (carry, read(x)), (), xs)[1]


def _plain(f, carry, rows, structure, count):
    """Outside of a trace: plain Python."""
    found, shape = [], None
    for k in range(count):
        carry, y = f(carry, None if not rows else tree.unflatten(structure, [np.asarray(row)[k] for row in rows]))
        if y is not None:
            leaves, shape = tree.flatten(y)
            found.append(leaves)
    return carry, tree.unflatten(shape, [np.stack(parts) for parts in zip(*found)]) if found else None
