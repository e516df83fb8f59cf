"""`range` with traced bounds: a count that is known at entry, and the index of each step."""

import numpy as np

from . import bounds, errors, lists, loose, masked
from .array import Array, Symbol, affine, demand, index_of, traced
from .iterators import moves
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
        demand(self.count)
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


class Ranged:
    """The steps of a `range`."""

    def __init__(self, steps):
        self.steps = steps
        self.count = None if isinstance(steps, range) else steps.count
        if isinstance(steps, range):
            beyond = next((end for end in (steps.start, steps.stop, steps.step) if not -(2**63) <= end < 2**63), None)
            if beyond is not None:
                raise errors.ArgumentError(f"the range of a loop has integers of 64 bits, found {beyond}", errors.here())

    def known(self):
        return len(self.steps) if isinstance(self.steps, range) else None

    def at(self, k):
        return self.steps[k]

    def item(self, index, first):
        """The user's loop variable at a step; `index` counts from 0 at the step `first`."""
        steps = self.steps
        if isinstance(steps, range):
            rest = steps[first:]
            start, step, ends = rest.start, rest.step, (min(rest[0], rest[-1]), max(rest[0], rest[-1]))
        else:
            start, step, ends = steps.start, steps.step, steps.bounds()
        item = index
        # Between its start and its stop it does not leave 64 bits.
        if step != 1:
            item = np.multiply(item, step)
        if isinstance(start, Array) or start != 0:
            item = np.add(item, start)
        if item is index:
            item = traced(index.handle())
        item._symbol, item._offset = Symbol(*ends), 0
        item._bounds = self._limits() if isinstance(steps, TracedRange) else ends
        item._weak = True  # whatever its bounds are, a range gives Python's integers
        return item

    def _limits(self):
        """Least and greatest index of a range with traced ends."""
        low, high = bounds.hull(bounds.of(self.steps.start), bounds.of(self.steps.stop))
        if not isinstance(self.steps.start, Array) and abs(self.steps.step) == 1:
            return (max(low, self.steps.start - bounds.STEPS), min(high, self.steps.start + bounds.STEPS))
        return (low, high)

    def __iter__(self):
        return iter(self.steps)


class Rows:
    """The steps over an array: its rows, or its elements."""

    def __init__(self, array, weak=False):
        self.array, self.weak = array, weak
        self.count = None

    def known(self):
        return self.array.shape[0]

    def at(self, k):
        return self._made(self.array[k])

    def item(self, index, first):
        return self._made(self.array[Ranged(range(self.known())).item(index, first)])

    def _made(self, item):
        if self.weak and isinstance(item, Array):
            item._weak = True
        return item

    def __iter__(self):
        return (self.at(k) for k in range(self.known()))


class Chosen(Rows):
    """The steps over a masked value: as many as its mask leaves."""

    def __init__(self, value):
        super().__init__(masked.compact(value))
        self.count = masked.count(value)

    def known(self):
        return None

    def item(self, index, first):
        return self.array[Ranged(range(self.array.shape[0])).item(index, first)]

    def __iter__(self):
        raise errors.Unsupported("a masked value among others in a loop can only be the subject of a `for` statement", errors.here())


UNKNOWN = object()


class Once:
    """An iterator over what is counted, so that a loop of the Program may go through it."""

    place, loop = 0, None  # how many steps were taken one by one; the loop that goes through the others

    def __iter__(self):
        return self

    def __next__(self):
        moves(self)
        place = self._taken()
        if place == self._count():
            raise StopIteration
        self.place = place + 1
        return self.at(place)

    def begins(self):
        """Whether a loop that goes through it now may be one of the Program: nothing has taken a step yet."""
        moves(self)
        return self._taken() == 0

    def _taken(self):
        """How many steps were taken, a loop that has ended included."""
        if self.loop is not None:
            taken = self.loop.taken()
            self.place, self.loop = self._count() if taken is None else taken, None
        if self.place is UNKNOWN:
            raise errors.Unsupported("how far a zip, an enumerate or a reversed array is, which a loop goes through or may have left, is not known; use an index", errors.here())
        return self.place

    def _count(self):
        if self.known() is None:
            raise errors.Unsupported("a range with a traced bound, or a masked value, among others can only be the subject of a `for` statement", errors.here())
        return self.known()


class Cells(Once):
    """The steps of `np.ndindex` and `np.ndenumerate`: places in an array, row by row, and what stands there."""

    def __init__(self, shape, array=None):
        self.shape, self.array, self.count = shape, array, None

    def known(self):
        return int(np.prod(self.shape, dtype=np.int64))

    def at(self, k):
        return self._cell(tuple(int(place) for place in np.unravel_index(k, self.shape)) if self.shape else ())

    def item(self, index, first):
        flat, places = Ranged(range(self.known())).item(index, first), []
        for extent in reversed(self.shape):
            place = np.remainder(flat, extent)
            place._symbol, place._offset, place._bounds, place._weak = Symbol(0, extent - 1), 0, (0, extent - 1), True
            places.append(place)
            flat = np.floor_divide(flat, extent)
        return self._cell(tuple(reversed(places)))

    def _cell(self, place):
        return place if self.array is None else (place, self.array[place])


class Zipped(Once):
    """The steps of several at once, as many as the shortest has."""

    def __init__(self, parts, wrap=tuple):
        self.parts = parts
        counts = [part.known() for part in parts]
        self._known = None if None in counts else min(counts)
        self.count = None
        if self._known is None:
            unknown = [part.count if part.known() is None else part.known() for part in parts]
            self.count = unknown[0]
            for count in unknown[1:]:
                self.count = np.minimum(self.count, count)

    def known(self):
        return self._known

    def at(self, k):
        return tuple(part.at(k) for part in self.parts)

    def item(self, index, first):
        return tuple(part.item(index, first) for part in self.parts)


class Reversed(Once):
    """The steps of another from its end, as many as are known."""

    def __init__(self, part):
        self.part, self.count = part, None

    def known(self):
        return self.part.known()

    def at(self, k):
        return self.part.at(self.known() - 1 - k)

    def item(self, index, first):
        last = self.known() - 1 - first
        item = last - index
        item._symbol, item._offset, item._weak = Symbol(0, last), 0, True
        return self.part.array[item]


def steps_of(value):
    """The counted steps of a loop over this, or None where they are Python's own."""
    if isinstance(value, Once):
        return value if value.begins() else None
    if isinstance(value, (Ranged, Rows, loose.Items)):
        return value
    if isinstance(value, masked.Masked):
        return Chosen(value)
    known = loose.loose(value)
    if known is not None:
        return loose.Items(known)
    if isinstance(value, (range, TracedRange)):
        return Ranged(value)
    if isinstance(value, Array):
        return Rows(value) if value.shape else None
    rows = lists.rows_of(value)
    return None if rows is None else Rows(rows.array(), rows.weak)


def zipped(*parts, strict=False):
    """`zip`, over arrays and ranges in a loop of the Program."""
    steps = [steps_of(part) for part in parts]  # of what has taken a step already, none
    if not parts or any(step is None for step in steps) or not any(isinstance(part, (Array, TracedRange, Rows, Cells, Zipped, masked.Masked, list)) for part in parts):
        return zip(*[_plain(part) for part in parts], strict=strict)
    if strict and len({step.known() for step in steps}) > 1:
        raise ValueError("zip() arguments have different lengths")
    return Zipped([_held(step) for step in steps])


def enumerated(items, start=0):
    """`enumerate`, over an array or a zip of arrays in a loop of the Program."""
    steps = steps_of(items)
    if steps is None or isinstance(items, range) or isinstance(start, Array):
        return enumerate(items, start)
    steps = _held(steps)
    if steps.known() is None:
        return Zipped([Ranged(TracedRange(start, start + steps.count, 1, steps.count)), steps])
    return Zipped([Ranged(range(start, start + steps.known())), steps])


def _held(steps):
    """The steps of a part; what is an iterator moves on with others from here on, and is not known alone."""
    if isinstance(steps, Once):
        steps.place = UNKNOWN
    return steps


def backwards(steps):
    """`reversed`."""
    if isinstance(steps, range):
        return steps[::-1]
    if isinstance(steps, TracedRange):
        return steps.reversed()
    return Reversed(Rows(steps)) if isinstance(steps, Array) and steps.shape else reversed(steps)


def _plain(part):
    return iter(part) if isinstance(part, Rows) else part


def cells(shape, array=None):
    """`np.ndindex(shape)`, or `np.ndenumerate(array)`, as steps of a loop."""
    if array is not None:
        return Cells(array.shape, array) if isinstance(array, Array) else np.ndenumerate(array)
    shape = shape if isinstance(shape, tuple) else (shape,)
    return Cells(tuple(extent.__index__() for extent in shape))
