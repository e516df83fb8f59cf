"""Lists whose length depends on a traced condition: appended to before a `break`, under an `if`, in a `while`.

An array holds their items, as many as there can be, and a number counts those that there are. In a `while` whose steps have no bound that is known
while tracing, only the last item is held. The list itself holds a mark from there on, in place of its items.
"""

import numpy as np

from . import bounds, effects, errors, masked, scalars, tree
from .array import Array, Symbol, entangle, local
from .lists import Growing, Mark, Mixed
from .trace import NUMPY, current


class Loose(Growing):
    """A list of traced length: `capacity` items at most, or None where only the last is held. `used` is how many a step may append."""

    def __init__(self, owner, name, items, kind, capacity, loop):
        self.owner, self.name, self.kind, self.capacity, self.loop, self.used = owner, name, kind, capacity, loop, 0
        rows = 1 if capacity is None else max(capacity, 1)
        self.total, self.frame = rows, current().frame
        self.buffers = [local(np.zeros((rows, *part.shape), NUMPY[part.dtype])) for part in kind.parts]
        self.size = local(np.zeros((), np.int64))
        for k, item in enumerate(items if capacity is not None else items[-1:]):
            for buffer, leaf in zip(self.buffers, tree.flatten(item)[0]):
                buffer[k] = leaf
        self.size[...] = len(items)
        effects.change(owner, name)
        owner[:] = [Mark(self, 0)]
        current().growing[id(owner)] = self

    def roots(self):
        return [self.size, *self.buffers]

    def look(self):
        words = "in a `while` whose steps have no bound that is known while tracing, so that only its last item and its length are" if self.capacity is None else "under a traced condition"
        raise errors.Unsupported(f"a list that grows {words} is used here in a way that needs its length; use np.array(…) of it, len() or its items", errors.here())

    def end(self):
        """The length now, as a number of Python."""
        number = np.positive(self.size[()])
        if isinstance(number, Array):
            number._weak, number._bounds = True, (0, bounds.STEPS if self.capacity is None else self.total)
        return number

    def truth(self):
        result = np.greater(self.size[()], 0)
        if isinstance(result, Array):
            result._weak = True
        return result

    def append(self, item):
        if not self.kind.takes(item):
            self.loop.loosen(self.owner, self.name, item)
        self.used += self._times()
        place = self._within(0 if self.capacity is None else np.positive(self.size[()]))
        for buffer, leaf in zip(self.buffers, tree.flatten(item)[0]):
            buffer[place] = leaf
            if isinstance(leaf, Array) and not leaf._scalar:
                entangle(buffer.root(), leaf.root())
        self.size += 1

    def _times(self):
        """How often a step of the loop that has it growing gets here, at most."""
        times = 1
        for frame in current().frames[self.loop.frame.depth + 1 :] if self.loop is not None and self.loop.frame.open else ():
            if frame.loop is not None and self.capacity is not None:
                if frame.loop.known is None:
                    self.look()
                times *= frame.loop.known
        return times

    def pop(self, index=-1):
        if self.capacity is None or not isinstance(index, int) or index != -1:
            self.look()
        item = self.item(-1, fresh=True)
        self.size -= 1
        return item

    def item(self, index, fresh=False):
        """`xs[index]`."""
        if isinstance(index, slice) or self.capacity is None and not (isinstance(index, int) and index == -1):
            self.look()
        end = self.end()
        if not isinstance(index, Array):
            place = np.add(end, index) if index < 0 else index
            condition = np.greater_equal(place, 0) if index < 0 else np.less(place, end)
        else:
            place = np.where(np.less(index, 0), np.add(index, end), index)
            condition = np.logical_and(np.greater_equal(place, 0), np.less(place, end))
        scalars.require(condition, "list index out of range", IndexError)
        # Where that does not hold, nothing goes on: any place inside will do.
        place = 0 if self.capacity is None else np.minimum(np.maximum(place, 0), self.total - 1) if isinstance(place, Array) else min(place, self.total - 1)
        return self._made([buffer[self._within(place)] for buffer in self.buffers], fresh)

    def _made(self, leaves, fresh=True):
        for number, part in enumerate(self.kind.parts):
            leaf = leaves[number]
            if part.scalar and isinstance(leaf, Array):
                leaf._weak = part.weak
            elif not part.scalar and fresh:
                leaves[number] = leaf.copy()
        return tree.unflatten(self.kind.structure, leaves)

    def store(self, index, value):
        if self.capacity is None:
            self.look()
        super().store(index, value)

    def _write(self, number, place, leaf):
        self.buffers[number][place] = leaf

    def array(self):
        """What NumPy makes of the list: an array of traced length."""
        if self.capacity is None or len(self.kind.parts) != 1 or self.kind.structure is not None:
            self.look()
        return masked.first(self.end(), np.copy(self.buffers[0]))

    def __len__(self):
        return self.total


class Items:
    """The steps over such a list."""

    def __init__(self, known):
        if known.capacity is None:
            known.look()
        self.list, self.count = known, known.end()

    def known(self):
        return None

    def item(self, index, first):
        place = np.positive(index)
        place._symbol, place._offset = Symbol(0, self.list.total - 1), 0
        return self.list._made([buffer[place] for buffer in self.list.buffers])

    def __iter__(self):
        self.list.look()


def loose(value):
    """What is known of a list whose length is traced; None of other values."""
    trace = current()
    if trace is None or not trace.growing or type(value) is not list:
        return None
    known = trace.growing.get(id(value))
    return known if type(known) is Loose and known.owner is value and known.frame.open else None


def array_of(value):
    """The same value; a list whose length is traced as NumPy makes an array of it."""
    known = loose(value)
    return value if known is None else known.array()


def kind_of_items(lists):
    """What the items of some lists have in common, marks of lists that grow among them; None where it is nothing."""
    from .lists import Kind

    kind, items = None, []
    for item in (item for found in lists for item in found):
        if isinstance(item, Mark):
            kind = item.growing.kind
        else:
            items.append(item)
    try:
        kind = Kind(items) if kind is None else kind
        for item in items:
            kind = kind.with_item(item)
    except Mixed:
        return None
    return kind
