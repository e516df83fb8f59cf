"""What a function changes of its arguments: arrays that it writes into, items and attributes that it sets. The caller sees it after the call.

New values are further results of the Program. An array that was written into is written into the caller's own; what was set is set in the caller's
containers and objects, which stay the same objects.
"""

import collections

import numpy as np

from . import errors, tree
from .array import Array, lift
from .control import is_data
from .trace import Retry, current
from .narrow import Narrow


class Writes:
    """What is written back after a run: per argument that changes, how it is nested and what stands where."""

    def __init__(self):
        self.changed, self.values, self.in_place, self.returned = [], [], {}, {}

    @staticmethod
    def of(arguments, boxes, values, result, outcome):
        """What has become of arguments; `boxes` are the traced ones, `values` the arguments that the function had."""
        self = Writes()
        for box in boxes:
            if isinstance(box, Array) and box._poison is not None:
                _peel(box, outcome)
        places = {id(box): k for k, box in enumerate(boxes) if isinstance(box, (Array, Narrow))}
        arrays = [box.carrier if isinstance(box, Narrow) else box for box in boxes]
        written = [k for k, box in enumerate(arrays) if isinstance(box, Array) and not box._scalar and box._changes]
        for number, (value, (structure, first, count, _)) in enumerate(zip(values, arguments.parts)):
            leaves, nested = tree.flatten(value, objects=tree.ANY)
            same = nested == structure and all(leaf is box for leaf, box in zip(leaves, boxes[first : first + count]))
            if not same or any(first <= k < first + count for k in written):
                self.changed.append((number, nested, [self._place(leaf, places) for leaf in leaves]))
        for k in written:
            self.in_place[k] = self._result(arrays[k])
        for number, leaf in enumerate(tree.flatten(result, objects=tree.ANY)[0]):
            if places.get(id(leaf)) in self.in_place:
                self.returned[number] = places[id(leaf)]
        return self

    def _place(self, leaf, places):
        """Where a leaf comes from: an argument, a result, or it is known."""
        if id(leaf) in places:
            return Place("argument", places[id(leaf)])
        if isinstance(leaf, Array):
            kind = "python" if leaf._weak else "number" if leaf._scalar else "array"
            return Place(kind, self._result(leaf))
        if not is_data(leaf) and not isinstance(leaf, np.ndarray):
            raise errors.Unsupported(f"the function puts a {type(leaf).__name__} into one of its arguments, which the caller would not see; return it", errors.here())
        return Place("known", leaf)

    def _result(self, leaf):
        self.values.append(leaf)
        return len(self.values) - 1

    def handles(self):
        return [lift(value) for value in self.values]

    def __bool__(self):
        return bool(self.changed)

    def check(self, arguments):
        """Arguments that share memory would have to see each other's changes."""
        for k in self.in_place:
            target = arguments.leaves[k][0]
            if isinstance(target, np.ndarray) and not target.flags.writeable:
                raise errors.ArgumentError(f"assignment destination is read-only: {arguments.name}() writes into one of its arguments")
            for other, (leaf, _) in enumerate(arguments.leaves):
                if other != k and isinstance(leaf, np.ndarray) and isinstance(target, np.ndarray) and np.may_share_memory(target, leaf) and np.shares_memory(target, leaf):
                    raise errors.Unsupported(f"{arguments.name}() writes into an argument that shares memory with another one; pass a copy")

    def apply(self, arguments, results):
        """Writes results where the caller sees them."""
        for k, number in self.in_place.items():
            arguments.leaves[k][0][...] = results[number]
        given = [*arguments.args, *arguments.kwargs.values()]
        leaves = [leaf for value in given for leaf in tree.flatten(value, objects=tree.ANY)[0]]
        for number, structure, places in self.changed:
            _put(given[number], tree.unflatten(structure, [_Found(place.value(results, leaves)) for place in places]))


def _peel(box, outcome):
    """An argument that a loop changes and then exchanges for another array: only its first step does, if that is traced by itself."""
    known = current().exchanged.get(id(box))
    if known is not None and known[0] is box and not known[1].peeled:
        known[1].peeled = 1
        raise Retry(outcome)
    raise errors.Unsupported(f"{box._poison} (its caller would see the change)", errors.here())


class Place:
    def __init__(self, kind, what):
        self.kind, self.what = kind, what

    def value(self, results, leaves):
        if self.kind == "argument":
            return leaves[self.what]
        if self.kind == "known":
            return self.what
        result = results[self.what]
        if isinstance(result, Array):
            return result
        return result.item() if self.kind == "python" else result[()] if self.kind == "number" else result


class _Found:
    """A leaf of what is written."""

    def __init__(self, value):
        self.value = value


def _put(old, new):
    """Makes a container or object hold what another does; gives what stands there now."""
    if isinstance(new, _Found):
        return new.value
    if isinstance(new, (list, collections.deque)):
        items = [_put(a, b) for a, b in zip(_padded(old, type(new), len(new)), new)]
        target = old if type(old) is type(new) else new
        target.clear()
        target.extend(items)
        return target
    if isinstance(new, tuple):
        items = [_put(a, b) for a, b in zip(_padded(old, tuple, len(new)), new)]
        return type(new)(*items) if hasattr(new, "_fields") else type(new)(items)
    if isinstance(new, dict):
        target = old if type(old) is type(new) else new
        items = {key: _put(target.get(key) if target is old else None, item) for key, item in new.items()}
        target.clear()
        target.update(items)
        return target
    parts = tree.parts_of(new, tree.ANY)
    if parts is None or parts[0].kind == "static":
        return new
    return _put_attributes(old, new)


def _put_attributes(old, new):
    target = old if type(old) is type(new) else new
    known, found = _attributes(target), _attributes(new)
    for name in known.keys() - found.keys():
        object.__delattr__(target, name)
    for name, item in found.items():
        value = _put(known.get(name) if target is old else None, item)
        if known.get(name, _put) is not value:
            object.__setattr__(target, name, value)
    return target


def _attributes(value):
    """The attributes of an object by name, those in slots included."""
    found = dict(getattr(value, "__dict__", ()))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        found.update({name: getattr(value, name) for name in ([slots] if isinstance(slots, str) else slots) if hasattr(value, name)})
    return found


def _padded(old, kind, length):
    items = list(old) if isinstance(old, kind) else []
    return items + [None] * (length - len(items))
