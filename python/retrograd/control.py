"""What loops and branches have in common: the names that they bind, what is noted about their lines, boxes for what they result in."""

import sys

import numpy as np

from . import bounds, errors
from .array import Array, describe, entangle, is_weak, kind_of_all, repeated, traced
from .layout import is_row_major
from .trace import DTYPES, NUMPY, Retry, current


class Unset:
    """What a function returns, before it does."""

    def __repr__(self):
        return "<no value yet>"


UNSET = Unset()


class Control:
    """What rewritten source asks of a loop or a branch."""

    caught = (Retry, NameError)  # what may end a step of a loop that is traced again

    def __init__(self, facts, stops, where, scope):
        names, self.exposed, self.live, self.rebound, self.appended = facts
        self.lines = dict(names)
        self.stops, self.where = stops, where
        self.pos = errors.here()
        self.scope = dict(scope)  # `locals()` is one dict that changes
        self.bound = {}
        self.rebinds = True
        self.finished = False

    def has(self, name):
        return name in self.bound

    def drops(self, name):
        return self.rebinds and name not in self.bound

    def __getitem__(self, name):
        return self.bound[name]

    def at(self, name):
        """The line that binds a name last."""
        return (self.pos[0], self.lines.get(name, self.pos[1]))

    def flagged(self, name):
        """Whether a flag says if a name has a value, so that it may be anything where it has none."""
        return name.startswith("_rg_") or f"_rg_has_{name}" in self.lines

    def stopped(self, scope):
        return any(scope.get(name) is True for name in self.stops)

    def retry(self):
        """An exception that goes to a loop around ends this one."""
        raise sys.exc_info()[1]

    def note(self):
        """What was found out about this line before."""
        return current().notes.setdefault((self.pos[0], *self.where), Note())


class Note:
    """What was found out about a loop: whether it is unrolled, how many first steps are, and what it carries how."""

    def __init__(self):
        self.unrolled = False
        self.from_start = None  # of a `while`: whether it is a loop of the Program from its first step on
        self.peeled = 0
        self.types = {}  # by path and start: element type, weak
        self.unordered = set()  # by path and start: what is not row-major after a step
        self.by_value = {}  # by name: whether it is another object after a step
        self.lists, self.growth, self.still = {}, {}, set()  # by name: a list that grows, by how much, with items of what kind; those that do not
        self.options = {}  # by path: the trace, and the objects of which something that is carried is one
        self.bounds = {}  # by path and start: how an integer of Python grows, as `bounds.found` says


def is_traced(value):
    return isinstance(value, Array) and value.payload() is None


def truth(condition, pos):
    """A condition as one bool; of an array it is ambiguous."""
    if not isinstance(condition, Array):
        return bool(condition)
    if condition.size != 1:
        raise errors.ShapeError(f"the truth of an array with more than one element is ambiguous: {describe(condition)}", pos)
    condition = np.reshape(condition, ())[()] if condition.shape else condition
    return condition if condition.dtype.kind == "b" else condition != 0


def result_boxes(results, sources, loop=None, exact=None):
    """Boxes for results of control flow. Each may be one of its sources, at the end of a body: what two sources share, their boxes
    may share too, and with what lives on outside. `exact` are roots, by the number of a result, of which it is known when it is which."""
    exact = exact or {}
    boxes, known = [], {}
    for result, source in zip(results, sources):
        alone = len(source) == 1 and isinstance(source[0], Array)
        box = known.get(id(source[0])) if alone else None
        if box is None:
            scalar = not any(isinstance(item, Array) and not item._scalar for item in source)
            ordered = all(map(lies_in_order, source))
            box = traced(result, scalar=scalar, ordered=ordered, weak=scalar and kind_of_all(source, loop))
            if box._weak:
                box._bounds, box._growth = bounds.joined(source)
            if alone:
                known[id(source[0])] = box
        boxes.append(box)
    roots = [reached(source) for source in sources]
    for k, box in enumerate(boxes):
        for root in roots[k]:
            if root._frame.open and root._poison is None and not box._scalar and root not in exact.get(k, ()):
                entangle(box, root, loop)
        for j in range(k):
            known = exact[k].keys() & exact[j].keys() if j in exact and k in exact else ()
            if boxes[j] is not box and any(root in roots[j] and root not in known for root in roots[k]):
                entangle(boxes[j], box, loop)
    return boxes


def reached(sources):
    """The roots that arrays are, view, or may share memory with; by identity."""
    roots = [item.root() for item in sources if isinstance(item, Array) and not item._scalar]
    return dict.fromkeys([*roots, *(other for root in roots for other in (*(root._entangled or ()), *root.related()))])


def lies_in_order(value):
    """Whether a value is row-major in memory, as numbers are."""
    return not isinstance(value, Array) or value._scalar or is_row_major(value._shadow)


def zeros_like(leaf):
    """A value of the kind of another, to start with."""
    if isinstance(leaf, Array) and not leaf._scalar:
        return repeated(0, leaf.shape, leaf.dtype)
    zero = NUMPY[dtype_of(leaf)].type(0)
    return zero.item() if is_weak(leaf) else zero


def is_data(value):
    """Arrays and numbers."""
    if isinstance(value, Array):
        return True
    return isinstance(value, (bool, int, float, np.generic)) and np.asarray(value).dtype in DTYPES


def dtype_of(value):
    return DTYPES.get(value.dtype if isinstance(value, Array) else np.asarray(value).dtype, "f64")


def shape_of(value):
    return value.shape if isinstance(value, Array) else np.shape(value)


def kind_of(value):
    return describe(value) if isinstance(value, Array) else type(value).__name__


def rounds(value, dtype):
    """Whether a Python float would lose digits as a float32, which another value is."""
    if dtype != "f32" or not is_weak(value) or dtype_of(value) != "f64":
        return False
    return isinstance(value, Array) or float(np.float32(value)) != value


def joined_dtype(a, b):
    """The element type of what is one of two values: that of NumPy's number, where one is Python's."""
    kinds = [{"b": False, "i": 0, "f": 0.0}[NUMPY[dtype_of(value)].kind] if is_weak(value) else NUMPY[dtype_of(value)] for value in (a, b)]
    return DTYPES[np.result_type(*kinds)]
