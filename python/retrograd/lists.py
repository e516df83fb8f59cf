"""Lists that grow or shrink by as many items in every step of a loop: while the loop is traced, arrays hold their items.

Such an array is carried by the loop as any that it writes into, so that `xs.append(x)` is `buffer[k] = x` with k from the index. In the body
the list itself holds a mark alone, which says how many items were added in this step; whatever looks at the mark instead of asking here has
the loop unrolled. After the loop the list holds rows of the array.
"""

import numpy as np

from . import bounds, effects, errors, scalars, tree
from .array import Array, Either, Symbol, entangle, is_weak, local
from .control import dtype_of, is_data, shape_of
from .layout import shadow_of
from .trace import DTYPES, NUMPY, current
from .views import Window


class Kind:
    """What all items of a list have in common, number by number: how they are nested, and the element type and shape of each part."""

    def __init__(self, items):
        self.structure, self.parts = None, None
        for item in items:
            leaves, structure = tree.flatten(item)
            if not leaves or not all(is_data(leaf) for leaf in leaves) or self.parts is not None and structure != self.structure:
                raise Mixed
            parts = [Part(leaf) for leaf in leaves]
            self.parts = parts if self.parts is None else [a.joined(b) for a, b in zip(self.parts, parts)]
            self.structure = structure
        if self.parts is None:
            raise Mixed

    def with_item(self, item):
        """The kind of these items and another one."""
        leaves, structure = tree.flatten(item)
        if structure != self.structure or not all(is_data(leaf) for leaf in leaves):
            raise Mixed
        joined = Kind.__new__(Kind)
        joined.structure, joined.parts = structure, [part.joined(Part(leaf)) for part, leaf in zip(self.parts, leaves)]
        return joined

    def takes(self, item):
        try:
            return self.with_item(item).parts == self.parts
        except Mixed:
            return False


class Mixed(Exception):
    """Items of different kinds."""


class Part:
    def __init__(self, leaf):
        self.shape, self.dtype, self.weak = shape_of(leaf), dtype_of(leaf), is_weak(leaf)
        self.scalar = not isinstance(leaf, Array) or leaf._scalar

    def joined(self, other):
        if (self.shape, self.scalar) != (other.shape, other.scalar) or not self.scalar and self.dtype != other.dtype:
            raise Mixed
        joined = Part.__new__(Part)
        joined.shape, joined.scalar, joined.weak = self.shape, self.scalar, self.weak if self.weak == other.weak else Either()
        joined.dtype = DTYPES[np.result_type(NUMPY[self.dtype], NUMPY[other.dtype])]
        return joined

    def __eq__(self, other):
        return (self.shape, self.scalar, self.dtype, self.weak) == (other.shape, other.scalar, other.dtype, other.weak)


class Mark:
    """What stands in a list that grows, instead of its items."""

    def __init__(self, growing, added):
        self.growing, self.added = growing, added


def _looked_at(self, *_, **__):
    self.growing.look()


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "matmul", "rmatmul", "pow", "rpow", "neg", "abs", "lt", "le", "gt", "ge", "eq", "ne",
              "getitem", "setitem", "len", "iter", "bool", "float", "int", "index", "array", "repr", "str", "call", "contains", "array_ufunc", "array_function", "hash"):
    setattr(Mark, f"__{_name}__", _looked_at)


class Grown:
    """What is known of a list that grows in a loop before the loop is traced again; `margin` is how many items a step has it hold besides those of
    its start at most."""

    def __init__(self, owner, name, kind, margin):
        self.owner, self.name, self.kind, self.margin = owner, name, kind, margin

    def start(self, step, count):
        return Growing(self.owner, self.name, list(self.owner), self.kind, step, count, self.margin)


class Growing:
    """A list under way in a loop: `length` items before it, as many more in every step as the loop says."""

    def __init__(self, owner, name, items, kind, step, count, margin):
        self.owner, self.name, self.kind, self.length, self.margin = owner, name, kind, len(items), margin
        self.total = max(self.length, self.length + step * count) + margin
        self.before, self.marks, self.frame, self.loop = list(items), {}, None, None
        self.appended, self.stored, self.touched = [], False, False
        self.buffers = [local(np.zeros((self.total, *part.shape), NUMPY[part.dtype])) for part in kind.parts]
        for k, item in enumerate(items):
            for buffer, leaf in zip(self.buffers, tree.flatten(item)[0]):
                buffer[k] = leaf
        self.changes = [buffer._changes for buffer in self.buffers]

    def mark(self, added):
        return self.marks.setdefault(added, Mark(self, added))

    def begin(self, loop):
        """In the body of its loop from here on."""
        self.loop, self.frame = loop, loop.frame
        self.owner[:] = [self.mark(0)]
        current().growing[id(self.owner)] = self
        for buffer in self.buffers:
            current().claim(buffer)

    def added(self):
        return self.owner[0].added

    def move(self, by):
        """Notes that there are more items now."""
        effects.change(self.owner, self.name)
        self.owner[:] = [self.mark(self.added() + by)]

    def look(self):
        """Somebody needs the list as it is in one step."""
        error = errors.Unsupported("a list that grows in a loop is used there as a whole; its count must be known while tracing", errors.here())
        for frame in current().frames[self.frame.depth :]:
            if frame.loop is not None:
                frame.loop.unroll(error)
        raise error

    def end(self):
        """The length now, as a number of Python."""
        place = self.length + self.added()
        for frame in current().frames[self.frame.depth :]:
            step = frame.loop.growth.get(id(self.owner), 0) if frame.loop is not None else 0
            if step:
                place = np.add(np.multiply(frame.loop.index, step) if step != 1 else frame.loop.index, place)
        return self._place(place)

    def _place(self, place):
        if isinstance(place, Array):
            place._weak, place._bounds, place._symbol, place._offset = True, (0, self.total), Symbol(0, self.total), 0
        return place

    def _within(self, place):
        """An index that is known to be inside of the buffer."""
        if isinstance(place, Array):
            place._symbol, place._offset = Symbol(0, self.total - 1), 0
        return place

    def append(self, item):
        if not self.kind.takes(item):
            self.loop.regrow(self, item)
        if self.added() + 1 > self.margin and self.length + self.added() >= 0:
            self.loop.regrow(self, item)
        place = self._within(self.end())
        for number, leaf in enumerate(tree.flatten(item)[0]):
            self._write(number, place, leaf)
            if isinstance(leaf, Array) and not leaf._scalar:
                self.appended.append((leaf.root(), leaf.root()._changes, self.buffers[number]))
        self.move(1)

    def _write(self, number, place, leaf):
        buffer = self.buffers[number]
        # A change that is not ours came through an item that was read.
        self.touched = self.touched or not self.kind.parts[number].scalar and buffer._changes != self.changes[number]
        buffer[place] = leaf
        self.changes[number] = buffer._changes

    def extend(self, items):
        for item in settled(items):
            self.append(item)

    def method(self, name, args):
        """A call of a method of the list."""
        if name not in ("append", "extend", "pop"):
            self.look()
        return getattr(self, name)(*args)

    def pop(self, index=-1):
        if not isinstance(index, int) or index != -1:
            self.look()
        item = self.item(-1, fresh=True)
        self.move(-1)
        return item

    def item(self, index, fresh=False):
        """`xs[index]`."""
        if isinstance(index, slice):
            self.look()
        end = self.end()
        if not isinstance(index, Array):
            place = np.add(end, index) if index < 0 else index
            distance = (bounds.of(end), index)
            self._check(np.greater_equal(place, 0) if index < 0 else np.less(place, end), distance, index)
        else:
            place = np.where(np.less(index, 0), np.add(index, end), index) if bounds.of(index)[0] < 0 else index
            self._check(np.logical_and(np.greater_equal(place, 0), np.less(place, end)), None, index)
            place = np.positive(place)
        place = self._within(place) if isinstance(place, Array) else place
        leaves = []
        for buffer, part in zip(self.buffers, self.kind.parts):
            leaf = buffer[place]
            if fresh and not part.scalar:
                leaf = leaf.copy()
            if part.scalar and isinstance(leaf, Array):
                leaf._weak = part.weak
            leaves.append(leaf)
        return tree.unflatten(self.kind.structure, leaves)

    def _check(self, condition, distance, index):
        """An index beyond the items that there are now is an error, as in Python."""
        if distance is not None:
            least = self.length + self.added() if all(step >= 0 for step in self._steps()) else 0
            if least >= (-index if index < 0 else index + 1):
                return
        scalars.require(condition, "list index out of range", IndexError)

    def _steps(self):
        return [frame.loop.growth.get(id(self.owner), 0) for frame in current().frames[self.frame.depth :] if frame.loop is not None]

    def store(self, index, value):
        """`xs[index] = value`, of numbers; an array that is replaced may be seen elsewhere."""
        if isinstance(index, slice) or not self.kind.takes(value) or not all(part.scalar for part in self.kind.parts):
            self.look()
        end = self.end()
        place = np.add(end, index) if not isinstance(index, Array) and index < 0 else index
        if isinstance(index, Array) and bounds.of(index)[0] < 0:
            place = np.where(np.less(index, 0), np.add(index, end), index)
        scalars.require(np.logical_and(np.greater_equal(place, 0), np.less(place, end)), "list assignment index out of range", IndexError)
        self.stored = True
        place = self._within(np.positive(place)) if isinstance(place, Array) else place
        for number, leaf in enumerate(tree.flatten(value)[0]):
            self._write(number, place, leaf)

    def is_safe(self):
        """Whether no item is an array that changes in the loop, under whatever name: rows are copies."""
        frame = self.frame
        for root, changes, _ in self.appended:
            if root._changes != changes or root._frame is not frame and root in frame.mutated and root._value != frame.roots.get(root, root._value):
                return False
        scalar = all(part.scalar for part in self.kind.parts)
        return not self.touched and (scalar or all(buffer._changes == known for buffer, known in zip(self.buffers, self.changes)))

    def finish(self, step, count, entangled):
        """After the loop: the list holds rows."""
        end = self.length + step * count
        kept = 0 if self.stored else min(self.length, end)
        rows = [Row(buffer) for buffer in self.buffers]
        effects.change(self.owner, self.name)
        self.owner[:] = self.before[:kept] + [self._row(rows, k) for k in range(kept, end)]
        for root, _, buffer in self.appended:
            for other in entangled(root):
                entangle(buffer.root(), other)

    def _row(self, rows, k):
        return tree.unflatten(self.kind.structure, [row.at(k, part) for row, part in zip(rows, self.kind.parts)])


class Row:
    """Makes rows of an array as items of a list; they are read when somebody does."""

    def __init__(self, buffer):
        self.buffer = buffer
        self.rest, self.extents = [0] * (buffer.ndim - 1), list(buffer.shape[1:])

    def at(self, k, part):
        link = ListRow(k, self.rest, self.extents)
        array = Array(self.extents, self.buffer.dtype, scalar=part.scalar, shadow=shadow_of(self.extents))
        array._parent, array._link, array._weak = self.buffer, link, part.weak
        return array


class ListRow(Window):
    """The link of a row that is an item of a list."""

    def __init__(self, number, rest, extents):
        super().__init__((number,), [number, *rest], [1, *extents], [1] * (len(extents) + 1), extents)
        self.number = number


def growing(value):
    """The growing list that a list is in the present body, or None."""
    trace = current()
    if trace is None or not trace.growing or type(value) is not list:
        return None
    known = trace.growing.get(id(value))
    return known if known is not None and known.owner is value and known.frame.open else None


def settled(value):
    """The same value; a list that grows is needed as a whole."""
    known = growing(value)
    if known is not None:
        known.look()
    return value


def segments(items):
    """Items of a list put together where they are rows of one array one after the other: a list of arrays of rows, and of single items in lists."""
    result = []
    for item in items:
        link = item._link if isinstance(item, Array) else None
        if isinstance(link, ListRow):
            last = result[-1] if result else None
            if isinstance(last, Rows) and last.buffer is item._parent and last.stop == link.number:
                last.stop += 1
                continue
            result.append(Rows(item, link.number))
        elif result and isinstance(result[-1], list):
            result[-1].append(item)
        else:
            result.append([item])
    return result


class Rows:
    """Rows of one array, one after the other, that are items of a list."""

    def __init__(self, item, start):
        self.buffer, self.start, self.stop, self.weak, self.scalar = item._parent, start, start + 1, item._weak, item._scalar

    def array(self):
        return self.buffer[self.start : self.stop]


def rows_of(items):
    """The array whose rows all items of a list are, and whether they are Python's numbers; None where they are none."""
    if type(items) is not list or len(items) < 3 or not (isinstance(items[-1], Array) and isinstance(items[-1]._link, ListRow)):
        return None
    parts = segments(items)
    return parts[0] if len(parts) == 1 and isinstance(parts[0], Rows) else None


def has_rows(items):
    return type(items) in (list, tuple) and len(items) >= 3 and isinstance(items[-1], Array) and isinstance(items[-1]._link, ListRow)
