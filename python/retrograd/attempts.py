"""`try` around what can only fail when the program runs, as `np.linalg.cholesky` can: first whether it does, as a value, then the body or a handler.

The body is traced twice. The first time finds its conditions of success; nothing ends the run there, and all that it changes is undone.
"""

import sys

import numpy as np

from . import branches, errors
from .array import Array, traced
from .control import UNSET, is_traced
from .trace import Retry, current


class Attempt:
    """A body under way: what holds as long as nothing has failed that its `try` catches."""

    def __init__(self, kinds, code, before):
        self.kinds, self.frame = kinds, current().frame
        self.fine, self.error = np.bool_(True), None
        self.code, self.before = code, before  # of the body, and the names that it may bind as they were

    def catches(self, kind):
        return issubclass(kind, self.kinds)

    def require(self, condition, kind, message):
        """Something that fails with an error of this kind unless the condition holds."""
        if current().frame is not self.frame:
            raise errors.Unsupported(f"`try` around a loop or branch in which something can only fail when the program runs ({kind.__name__}) is not supported; put the `try` inside", errors.here())
        self.check_unchanged(sys._getframe())
        if self.error is not None and type(self.error) is not kind:
            raise errors.Unsupported(f"`try` around what can fail in two ways when the program runs ({kind.__name__} and {type(self.error).__name__}) is not supported; use two", errors.here())
        self.fine, self.error = np.logical_and(self.fine, condition), kind(message)


    def check_unchanged(self, frame):
        """Where something fails, what the body has changed before stays changed; a handler would not see it, so that it is refused."""
        while frame is not None and frame.f_code is not self.code:
            frame = frame.f_back
        now = frame.f_locals if frame is not None else {}
        changed = [name for name, value in self.before.items() if name in now and now[name] is not value]
        if changed or self.frame.mutated or self.frame.effects:
            what = f"changes `{changed[0]}`" if changed else "changes an array or an object"
            raise errors.Unsupported(f"the body of a `try` {what} before something that can only fail when the program runs; do it before the `try`", errors.here())


def flat(kinds):
    """The classes that handlers name."""
    return tuple(kind for item in kinds for kind in (item if isinstance(item, tuple) else (item,)))


def is_needed(where):
    """Whether the `try` at this place has been found to be around something that can only fail when the program runs."""
    return ("try", errors.here()[0], *where) in current().outside.fixed


def tried(start, kinds, where):
    """The end of a `try`. What can fail only when the program runs has it traced again, as an attempt."""
    trace, kinds = current(), flat(kinds)
    if any(issubclass(risk, kinds) for risk in trace.risks[start:]):
        trace.outside.fixed.add(("try", errors.here()[0], *where))
        raise Retry(trace.outside.target)


def attempt(body, names, kinds, scope):
    """(whether the body ends without an error that is caught, that error)."""
    trace, pos, found = current(), errors.here(), []

    def dry():
        record = Attempt(flat(kinds), body.__code__, {name: scope[name] for name in names if scope.get(name, UNSET) is not UNSET})
        found.append(record)
        trace.attempts.append(record)
        try:
            body(*[scope.get(name, UNSET) for name in names])
        except record.kinds as error:
            if isinstance(error, errors.Error) or trace.frame is not record.frame:
                raise
            trace_of = error.__traceback__
            while trace_of.tb_next is not None and trace_of.tb_frame.f_code is not record.code:
                trace_of = trace_of.tb_next
            record.check_unchanged(trace_of.tb_frame)
            record.fine, record.error = False, error
        finally:
            trace.attempts.remove(record)
        # Nothing but the answer stays.
        frame = record.frame
        frame.undo()
        frame.mutated.clear()
        frame.effects.clear()
        frame.raised = False
        return record.fine

    always = traced(trace.constant(np.bool_(True)), scalar=True, weak=True)
    fine = branches.choose(always, dry, lambda: False, pos)
    if isinstance(fine, Array) and is_traced(fine):
        fine._weak = True
    return fine, found[0].error


def attempted(start, kinds):
    """After an attempt nothing of it can fail."""
    kinds, risks = flat(kinds), current().risks
    risks[start:] = [risk for risk in risks[start:] if not issubclass(risk, kinds)]


def handles(error, kinds):
    """Whether an `except` is for an error."""
    return isinstance(error, flat((kinds,)))
