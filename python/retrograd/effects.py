"""What traced code changes besides its own names and arrays: contents of containers, attributes of objects, cells.

An object that was made in the body that changes it may change as it likes. One that was made further out in the same function is part of
the state of the loops and branches in between. One that lives outside of the function is refused: what happens to it would happen once
per trace, not once per call.
"""

import collections
import types

from . import errors
from .array import Array
from .trace import current

_CONTAINERS = (list, dict, set, bytearray, collections.deque)


def made(value):
    """Notes that the present body made an object."""
    trace = current()
    if trace is not None:
        trace.made[id(value)] = (value, trace.frame)
        if trace.undecided is not None:
            trace.undecided.made.add(id(value))
    return value


def owner(value):
    """The frame that made an object, None where it lives outside of the function."""
    known = current().made.get(id(value))
    return known[1] if known is not None and known[0] is value else None


def joined(value):
    """Notes containers that control flow resulted in: what else holds them is not known."""
    if isinstance(value, (*_CONTAINERS, tuple)):
        current().joined[id(value)] = value
        for item in value.values() if isinstance(value, dict) else value:
            joined(item)
    return value


def change(value, name, pos=None):
    """Notes that an object changes now, before it does."""
    trace = current()
    if trace is None or isinstance(value, Array):
        return
    trace.decide(f"a change of a {type(value).__name__}", value)
    frame = owner(value)
    if frame is trace.frame:
        return
    pos = pos or errors.here()
    kind = type(value).__name__
    if frame is None:
        what = f"the {kind} `{name}`" if name else f"a {kind}"
        if trace.joined.get(id(value)) is value:
            message = f"a change of {what} that is one of several by a traced condition, or that a loop bound anew: what else holds it is not known; change a copy of it"
            raise errors.Unsupported(message, pos)
        raise errors.Unsupported(
            f"a change of {what}, which lives outside of the function: it would happen once, not at every call; make it local, or return it", pos
        )
    effect = Effect(value, name, pos)
    for inner in reversed(trace.frames[frame.depth + 1 :] if frame.open else trace.frames):
        if inner.kind == "call":
            raise errors.Unsupported(f"a function with a derivative of its own changes the {kind} `{name}` from outside", pos)
        # Around a loop that carries it, it held what it held before that loop.
        effect = inner.effects.setdefault(id(value), effect.with_before(effect.before))


class Effect:
    """An object that a body changes: what it held before."""

    def __init__(self, value, name, pos):
        self.owner, self.name, self.pos = value, name or f"a {type(value).__name__}", pos
        self.before = _contents(value)

    def with_before(self, before):
        other = Effect(self.owner, self.name, self.pos)
        other.before = before
        return other

    def key(self):
        return id(self.owner)

    def again(self):
        return Effect(self.owner, self.name, self.pos)

    def restore(self):
        _fill(self.owner, self.before)

    def write(self, contents):
        _fill(self.owner, contents)

    def what(self):
        return f"a change of the {type(self.owner).__name__} `{self.name}`"

    def shallow(self):
        """(values, structure) of what it holds now, not of what is nested in it."""
        return _shallow(_contents(self.owner))

    def before_values(self):
        return _shallow(self.before)

    def keys(self):
        contents = _contents(self.owner)
        return [f"[{key!r}]" for key in contents] if isinstance(contents, dict) else [f"[{k}]" for k in range(len(contents))]

    def carries(self):
        """Whether a loop can carry it: it holds as much as before."""
        return not isinstance(self.owner, (set, bytearray)) and self.shallow()[1] == self.before_values()[1]


def _shallow(contents):
    if isinstance(contents, dict):
        return list(contents.values()), (("dict", tuple(contents)), (None,) * len(contents))
    return list(contents), (type(contents), (None,) * len(contents))


def _contents(value):
    if isinstance(value, types.CellType):
        try:
            return [value.cell_contents]
        except ValueError:
            return []
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, _CONTAINERS):
        return list(value)
    names = dict(vars(value)) if hasattr(value, "__dict__") else {}
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names.update({name: getattr(value, name) for name in ([slots] if isinstance(slots, str) else slots) if hasattr(value, name)})
    return names


def _fill(value, contents):
    if isinstance(value, types.CellType):
        if contents:
            value.cell_contents = contents[0]
        else:
            del value.cell_contents
    elif isinstance(value, (list, bytearray)):
        value[:] = contents
    elif isinstance(value, dict):
        value.clear()
        value.update(contents)
    elif isinstance(value, collections.deque):
        value.clear()
        value.extend(contents)
    elif isinstance(value, set):
        value.clear()
        value.update(contents)
    else:
        for name in set(_contents(value)) - set(contents):
            object.__delattr__(value, name)
        for name, item in contents.items():
            object.__setattr__(value, name, item)
