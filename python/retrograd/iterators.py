"""Iterators of Python, as traced code has them: whoever takes the next item, be it a loop, `next`, `sum` or code of C, is asked in which body.

How far an iterator is, is no number of the Program. So it moves on in the body that made it alone: a loop in between is unrolled, and under a traced
condition that is refused. Where a traced condition may have ended what goes through it, how far it is is not known, and it is refused from there on.
"""

import types

from . import effects, errors
from .array import demand_all
from .trace import Undecided, current

ITERATED = 1000  # steps of an iterator that a traced condition may end


class Iterator:
    """An iterator, whose every step is asked for here."""

    def __init__(self, steps):
        self._steps = steps

    def __iter__(self):
        return self

    def __next__(self):
        moves(self)
        return adopted(next(self._steps))

    def __getattr__(self, name):
        found = getattr(self._steps, name)
        return _Method(self, found) if name in ("send", "throw", "close") else found

    def __reduce_ex__(self, _protocol):
        raise errors.Unsupported("a copy of an iterator is not supported; make a list of what it goes over", errors.here())


class _Method:
    """`send`, `throw` or `close` of a generator, which moves it on."""

    def __init__(self, steps, method):
        self._of, self._method = steps, method

    def __call__(self, *args):
        moves(self._of)
        return self._method(*args)


def untraced(value):
    """The iterator as Python has it, whose class may be asked for."""
    return value._steps if type(value) is Iterator else value


def adopted(value):
    """A value that a library made; where it is an iterator of C, or several, with a note of the body that made it."""
    if type(value) is tuple and any(map(is_plain, value)):
        return tuple(map(adopted, value))
    return effects.made(Iterator(value)) if is_plain(value) and current() is not None else value


def foreign(value):
    """A value from outside of the function; an iterator, which no body made, is one that nothing may move on."""
    return Iterator(value) if is_plain(value) else value


def is_plain(value):
    """Whether a value is an iterator whose steps are not read; one that `with` opens is something else."""
    method = getattr(type(value), "__next__", None)
    return method is not None and not isinstance(method, types.FunctionType) and not hasattr(type(value), "__enter__")


def moves(steps):
    """An iterator moves on: one from outside of the present body would once, not once per step."""
    trace = current()
    if trace is None:
        raise errors.Unsupported("an iterator was kept after its function had been traced", errors.here())
    trace.check_iterators([steps])
    if trace.undecided is not None and id(steps) not in trace.undecided.made:
        trace.undecided.moved[id(steps)] = steps
    made = effects.owner(steps)
    if made is trace.frame:
        return
    if made is None and not trace.in_body():
        raise errors.Unsupported("iteration over an iterator that lives outside of the function: it would move on once, not at every call", errors.here())
    for frame in reversed(trace.bodies()):
        if frame is made:
            break
        if frame.loop is not None and frame.loop.known is not None:
            frame.loop.unroll(None)
        _know(frame)
    raise errors.Unsupported("iteration over an iterator from outside in a loop or branch is not supported", errors.here())


def _know(frame):
    """Traces again with a condition that can be known."""
    trace = current()
    sources = trace.derived.get(frame.predicate)
    if sources:
        trace.unwind(frame)
        demand_all(sources)


def known_end():
    """An iterator ends under a traced condition: whether it does is known, if it can be."""
    for frame in reversed(current().bodies()):
        _know(frame)


class Walk:
    """Goes through something of which a traced condition may end it at some step."""

    def __init__(self, items):
        self.source, self.steps, self.before, self.asked = items, iter(items), None, 0

    def __iter__(self):
        return self

    def __next__(self):
        trace = current()
        undecided, unsure = trace.undecided, trace.unsure
        if self.before is None:
            return next(self.steps)
        self.asked += 1
        if self.asked > ITERATED:
            message = f"more than {ITERATED} steps of an iterator, in a loop that a traced condition ends; use a `while` loop, or one over a range or an array"
            raise errors.Unsupported(message, errors.here())
        # What may be no step any more must not do anything that could be seen.
        step = trace.undecided = Undecided()
        trace.unsure = self.before
        try:
            return next(self.steps)
        finally:
            unsure.update(step.moved)
            if undecided is not None:
                undecided.made |= step.made
                undecided.moved.update(step.moved)
            trace.undecided, trace.unsure = undecided, unsure

    def may_end(self):
        """From here on it is not known whether there are further steps."""
        if self.before is None:
            unsure = current().unsure
            self.before = dict(unsure)
            if hasattr(type(self.source), "__next__"):
                unsure[id(self.source)] = self.source
