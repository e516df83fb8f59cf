"""`while` statements while they are traced: ordinary Python as long as their conditions are known, counted where they are of Python numbers alone."""

import sys

from . import errors, lists, tree
from .array import demand_all, lift
from .control import UNSET, Control, is_traced, truth
from .loops import RETRACES, Loop
from .trace import Retry, current


class While(Loop):
    """A `while`: ordinary Python as long as its condition is known, from then on a loop of the Program. Where its condition follows from Python
    numbers alone, the steps are counted first."""

    kind = "while"

    def __init__(self, counted, facts, stops, where, scope):
        Control.__init__(self, facts, stops, where, scope)
        self.known, self.next_step = None, 0
        self._starts_anew()
        self.traced = self.inside = self.rebinds = False
        self.plain = True
        self.counted = self.sources = None
        note = self.note()
        if counted is not None and not note.unrolled:
            count = _count(counted, self.scope)
            if count is not None and count > 1:
                self.counted = self.known = count
                self.kind, self.plain = "for", False
                self.decides = counted[0]
        # A condition that was found to be traced after a first step is taken to be so before it, where something that is carried is: else nests
        # of loops would be traced twice at every depth.
        bound = all(self.scope.get(name, UNSET) is not UNSET for name in self.live)
        if self.counted is None and note.from_start and bound:
            self.traced = any(map(is_traced, tree.flatten([self.scope[name] for name in self.exposed if name in self.scope])[0]))
        self.started = self.traced

    def again(self):
        if self.finished:
            return False
        if self.counted is not None:
            if self.mode_plain():
                return True
            return self._open()
        if not self.traced:
            self._as_it_is()
            return True
        self._find_slots()
        self._find_loose()
        self.attempts += 1
        if self.attempts > RETRACES:
            raise errors.InternalError("the carries of this loop do not settle; please report it", self.pos)
        self._enter(current().tracer.begin_while(self._starts(), self.pos))
        self.inside = False
        return True

    def mode_plain(self):
        """A counted loop that is unrolled after all is ordinary Python again."""
        if self.next_step < self.note().peeled and not self.note().unrolled:
            self.plain, self.inside = True, False
            self._as_it_is()
            return True
        if not self.note().unrolled:
            return False
        self.counted = self.known = None
        self.kind, self.plain = "while", True
        self._as_it_is()
        return True

    def test(self, condition, scope):
        """The condition, at the start of every step; the body follows where `inside` says so."""
        lists.settled(condition)
        if self.counted is not None and not self.plain:
            self.inside = True
            return
        if not self.traced and not is_traced(condition):
            self.inside = bool(condition)
            self.finished = not self.inside
            if self.inside:
                current().copied(self)
            self.bound, self.rebinds = {}, False
            return
        predicate = truth(condition, self.pos)
        if not self.traced:
            self.sources = current().derived.get(lift(predicate))
            if self.note().from_start is None:
                self.note().from_start = True
            self.traced, self.inside = True, False
            self.scope = dict(scope)
            self.rebinds, self.bound = True, {name: scope[name] for name in self.lines if name in scope}
            return
        trace = current()
        handle = lift(predicate)
        frame = self.frame
        if any(root._value != param for root, param in frame.roots.items()) or frame.effects.keys() - {slot.effect.key() for slot in self.slots if slot.effect}:
            raise errors.Unsupported("the condition of a `while` changes something in place", self.pos)
        roots = list(frame.roots)
        frame.undo()
        params = trace.tracer.begin_while_body(handle)
        trace.pop(frame)
        trace.traced_body(self)
        count = len(self._leaves())
        self._enter(params[:count], roots=dict(zip(roots, params[count:])))
        self.inside = True

    def done(self, scope):
        if self.counted is not None and not self.plain:
            self._close(scope)
        elif self.counted is not None:
            self.scope, self.next_step = dict(scope), self.next_step + 1
        elif not self.traced:
            self.scope = dict(scope)
        elif self.inside:
            self._close(scope)

    def retry(self):
        if self._is_mine(sys.exc_info()[1]):
            if self.started and self.note().from_start is False:
                self.started = self.traced = False
            self._restart()

    def _demand_count(self):
        """A condition that follows from arguments or indices around can be had, to run the loop in Python."""
        if self.started:
            self.note().from_start = False
            raise Retry(self)
        if self.counted is None and self.sources:
            demand_all(self.sources)

    def _cannot(self, error):
        """What is not a loop of the Program from its first step on may be one after it."""
        if self.started:
            self.note().from_start = False
            raise Retry(self)
        return super()._cannot(error)

    def _end(self, trace, nexts):
        return trace.tracer.end_for(nexts) if self.counted is not None else trace.tracer.end_while(nexts)[:-1]


def _count(counted, scope):
    """How many steps a `while` takes, by running what its condition depends on; None where that is not Python numbers alone."""
    names, function = counted
    values = [scope.get(name, UNSET) for name in names]
    if any(type(value) not in (bool, int, float) for value in values):
        return None
    try:
        return function(*values)
    except (ArithmeticError, ValueError, TypeError):
        return None
