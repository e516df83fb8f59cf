"""`range` with traced bounds: a count that is known at entry, and the index of each step."""

import numpy as np

from . import errors
from .array import Array, Symbol, affine, index_of, traced
from .trace import current


class TracedRange:
    """`range(start, stop, step)` where start or stop is traced; the step is known."""

    def __init__(self, start, stop, step, count=None):
        self.start, self.stop, self.step = start, stop, step
        self.count = _count(start, stop, step) if count is None else count

    def reversed(self):
        last = self.start + (self.count - 1) * self.step
        return TracedRange(last, self.start - self.step, -self.step, self.count)

    def bounds(self):
        low, high = (self.start, self.stop) if self.step > 0 else (self.stop, self.start)
        below = 0 if self.step > 0 else 1
        above = 1 if self.step > 0 else 0
        return (_known(low, "low", below), _known(high, "high", -above))

    def __iter__(self):
        raise errors.Unsupported("a range with a traced bound can only be the subject of a `for` statement", errors.here())


def _known(bound, side, beyond):
    """A bound of the index, as far as it is known."""
    symbol, offset = affine(bound)
    known = 0 if symbol is None else getattr(symbol, side)
    return None if known is None else known + offset + beyond


def make_range(*arguments):
    """`range(…)` of integers that may be traced."""
    if not any(isinstance(item, Array) for item in arguments):
        return range(*arguments)
    for item in arguments:
        if isinstance(item, Array) and (item.dtype.kind != "i" or item.shape):
            raise errors.DTypeError(f"range() takes integers, found {item!r}", errors.here())
    arguments = [index_of(item) for item in arguments]
    known = [item.__index__() if not isinstance(item, Array) or item.payload() is not None else item for item in arguments]
    start, stop, step = (0, known[0], 1) if len(known) == 1 else (*known, 1) if len(known) == 2 else known
    if isinstance(step, Array):
        raise errors.Unsupported("a range with a traced step is not supported", errors.here())
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return TracedRange(start, stop, step)


def _count(start, stop, step):
    """max(0, ceil((stop − start) / step)), by integer arithmetic that rounds towards zero."""
    trace = current()
    distance = stop - start if step > 0 else start - stop
    if abs(step) > 1:
        distance = traced(trace.op("div", [(distance + (abs(step) - 1)).handle(), trace.constant(np.int64(abs(step)))]))
    zero = trace.constant(np.int64(0))
    negative = trace.op("lt", [distance.handle(), zero])
    return traced(trace.op("select", [negative, zero, distance.handle()]))


def count_of(steps):
    """(handle of the count, the count where it is known)."""
    if isinstance(steps, range):
        beyond = next((end for end in (steps.start, steps.stop, steps.step) if not -(2**63) <= end < 2**63), None)
        if beyond is not None:
            raise errors.ArgumentError(f"the range of a loop has integers of 64 bits, found {beyond}", errors.here())
        return current().constant(np.int64(len(steps))), len(steps)
    return steps.count.handle(), None


def item_of(steps, index):
    """The user's loop variable at a step; `index` counts from 0."""
    if isinstance(steps, range):
        start, step, bounds = steps.start, steps.step, (min(steps[0], steps[-1]), max(steps[0], steps[-1]))
    else:
        start, step, bounds = steps.start, steps.step, steps.bounds()
    item = index
    if step != 1:
        item = item * step
    if isinstance(start, Array) or start != 0:
        item = item + start
    item._symbol, item._offset = Symbol(*bounds), 0
    item._weak = True  # whatever its bounds are, a range gives Python's integers
    return item
