"""What a loop carries: the arrays and numbers of names and of the contents of containers, objects that are one of several, lists of traced length."""

from . import tree
from .array import Array, is_weak
from .control import dtype_of, is_data, lies_in_order, shape_of
from .oneof import OneOf


class Leaf:
    """One array or number of what is carried: as it was before the loop, the box that stands for it in the body, its element type."""

    def __init__(self, before, path, note, by_value):
        self.options = before.options if type(before) is OneOf else None
        before = before.number if type(before) is OneOf else before
        self.before, self.path = before, path
        self.fixed = not by_value and isinstance(before, Array) and not before._scalar
        self.key = (path, dtype_of(before), is_weak(before), shape_of(before))
        self.dtype, self.weak = note.types.get(self.key, self.key[1:3])
        self.ordered = lies_in_order(before) and self.key not in note.unordered
        self.box = self.after = self.limits = None
        self.wider = None  # the element type that a step makes of it, where that is known too late

    def is_integer(self):
        """Whether it is a Python integer, which must not wrap."""
        return self.weak and self.dtype == "i64" and self.options is None

    def value(self, number):
        """What is carried, of the number that stands for it."""
        return number if self.options is None else OneOf(self.options, number)

    def is_array(self):
        return isinstance(self.before, Array) and not self.before._scalar


class Slot:
    """A name, or the contents of a container, that a loop carries."""

    def __init__(self, name, value, structure, leaves, effect=None):
        self.name, self.value, self.structure, self.leaves, self.effect = name, value, structure, leaves, effect

    def boxed(self):
        return tree.unflatten(self.structure, [leaf.value(leaf.before if leaf.fixed else leaf.box) for leaf in self.leaves])


class LooseList:
    """What is known of a list whose length is traced before the loop is traced again; `margin` is how many items a step appends at most."""

    def __init__(self, owner, name, before, kind):
        self.owner, self.name, self.before, self.kind, self.margin, self.made = owner, name, before, kind, 1, None


class Kept:
    """A part of a container that is no array or number, and stays what it is."""

    fixed, options = True, None

    def __init__(self, before):
        self.before = before

    def value(self, before):
        return before


def is_carried(value):
    return is_data(value) or type(value) is OneOf
