"""An array that is one of several by traced conditions, as the memory of each: what is written into it is written into the one that it is, by a
select, and what is written into one of those is seen in it.

This is exact as long as it is known which of them it is when: after a branch whose sides leave arrays that are still there. What is only known to be
one of some arrays, as after a loop, is entangled with them instead (`array.entangle`): a change of one makes the others unknown.
"""

from .array import lift, view
from .trace import DTYPES, current
from .views import Diagonal, Sliding, Spread, broadcast

MOST = 16  # arrays that one may be


class Part:
    """An array, or a view of it, that another one is if a condition holds; `facts` are the sides of branches that it is made of."""

    __slots__ = ("facts", "condition", "array")

    def __init__(self, facts, condition, array):
        self.facts, self.condition, self.array = facts, condition, array


class Choice:
    """What a root may be; where none of these conditions holds, it has memory of its own (`owns`)."""

    __slots__ = ("parts", "owns")

    def __init__(self, parts, owns):
        self.parts, self.owns = parts, owns


def parts_of(value):
    """All that an array is a view of: itself, or what it may be; None where that is not known exactly."""
    root = value.root()
    if root._choice is None:
        return [Part(frozenset(), None, value)]
    if root._choice.owns:
        return None
    return [Part(part.facts, part.condition, _applied(value, part.array)) for part in root._choice.parts]


def _applied(value, array):
    """The view of another array that a value is of its root."""
    return array if value._parent is None else view(_applied(value._parent, array), value._link)


def contradicts(facts):
    """Whether no run takes all of these sides."""
    return any((predicate, not side) in facts for predicate, side in facts)


def is_writable(value):
    while value._parent is not None:
        if isinstance(value._link, (Spread, Diagonal, Sliding)):
            return False
        value = value._parent
    return True


def choose(box, parts, owns):
    """Notes what a root may be."""
    if box._choice is not None:
        return
    box._choice = Choice(parts, owns)
    for base in dict.fromkeys(part.array.root() for part in parts):
        base._boxes = [*(other for other in base._boxes or () if other._frame.open), box]


def related(root):
    """The roots whose memory a root shares in a way that is known."""
    bases = [part.array.root() for part in root._choice.parts] if root._choice is not None else [root]
    boxes = [box for base in bases for box in base._boxes or () if box._frame.open]
    return [other for other in dict.fromkeys([*bases, *boxes]) if other is not root]


def written(root):
    """A root has another value now: so have those that it is, and those that are one of these."""
    changed = {root: None}
    if root._choice is not None:
        for part in root._choice.parts:
            base = part.array.root()
            if base._poison is None and base._frame.open:
                part.array.become(_selected(part.condition, root, part.array))
                changed[base] = None
    boxes = dict.fromkeys(box for base in changed for box in base._boxes or () if box is not root and box._frame.open and box._poison is None)
    for box in boxes:
        for part in box._choice.parts:
            if part.array.root() in changed:
                box.become(_selected(part.condition, part.array, box))


def _selected(condition, a, b):
    trace = current()
    a, b = a.handle(), b.handle()
    return trace.op("select", [broadcast(trace, condition, trace.type(a)[1]), a, b])


def may_overlap(a, b):
    """Whether two arrays may share memory."""
    from .control import reached

    common = reached([a]).keys() & reached([b]).keys()
    if not common:
        return False
    parts, others = parts_of(a), parts_of(b)
    if parts is None or others is None or any(root._entangled for root in common):
        return True
    return any(p.array.root() is q.array.root() and not contradicts(p.facts | q.facts) for p in parts for q in others)


class Pieces:
    """What the result of a branch may be, found while both of its sides are open; `exact` are the roots that it shares memory with in a known way."""

    def __init__(self, predicate):
        self.predicate = predicate
        self.parts, self.exact, self.owns = [], {}, False  # (facts, condition, number of a result, side, array)

    @staticmethod
    def of(join, a, b):
        """Of the values that the two sides leave, None where that is not known exactly."""
        self = Pieces(join.branch.predicate)
        for side, value in ((join.then, a), (join.other, b)):
            if not side.raised and not self._add(join, side, value):
                return None
        return self if self.parts and len(self.parts) <= MOST else None

    def _add(self, join, side, value):
        root = value.root()
        inside = root._frame is side.frame
        if inside and any(other._frame is not side.frame for other in root._entangled or ()):
            return False  # it is one of some arrays that are still there, as after a loop in this side
        if root._choice is None and inside:
            self.owns = True
            return True
        if inside:
            # It is one of several by a branch in this side, whose condition ends with it.
            self.owns = self.owns or root._choice.owns
            found = [Part(part.facts, part.condition, _applied(value, part.array)) for part in root._choice.parts]
        else:
            found = parts_of(value)
            self.exact[root] = None
        if found is None or any(part.array.dtype != value.dtype or not is_writable(part.array) for part in found):
            return False
        taken = (self.predicate, side is join.then)
        for part in found:
            base = part.array.root()
            if base._frame is side.frame:
                if base._choice is not None or base._boxes and any(box is not root for box in base._boxes):
                    return False
                self.owns = True
                continue
            facts = part.facts | {taken}
            if contradicts(facts):
                continue
            number = join.condition(part.condition, side) if inside else None
            self.parts.append((facts, part.condition, number, taken[1], part.array))
            self.exact.update(dict.fromkeys([base, *(box for box in base._boxes or () if box._frame.open)]))
        return True

    def attach(self, box, made):
        """Notes them, of the box that the result is."""
        if box._scalar or any(DTYPES[part[-1].dtype] != DTYPES[box.dtype] for part in self.parts):
            return
        trace = current()
        parts = []
        for facts, condition, number, side, array in self.parts:
            if number is not None:
                condition = lift(made[number])
            else:
                taken = self.predicate if side else trace.op("not", [self.predicate])
                condition = taken if condition is None else trace.op("and", [taken, condition])
            parts.append(Part(facts, condition, array))
        choose(box, parts, self.owns)

