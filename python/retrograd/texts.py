"""`print` and strings with traced values in them, whose digits are known when the program runs.

A `print` is a probe: it happens at every call, once per step and never on a replay. A string with traced values is a `Text` until then; in the message of
an error its values stand as they are written.
"""

import types

import numpy as np

from . import errors, lists, tree
from .array import Array, demand
from .control import is_traced
from .trace import current


class Text:
    """A string that is made when its values are known."""

    def __init__(self, values, make, template):
        self.values, self.make, self.template = values, make, template

    def __add__(self, other):
        return _text([self, other], lambda parts: parts[0] + parts[1], self.template + str(getattr(other, "template", other)))

    def __radd__(self, other):
        return _text([other, self], lambda parts: parts[0] + parts[1], str(other) + self.template)

    def __str__(self):
        for leaf in _leaves(self):
            if is_traced(leaf):
                demand(leaf)
        raise errors.Unsupported("a traced value in a string: its digits are not known before the program runs", errors.here())

    def _refused(self, *_):
        str(self)

    __repr__ = __format__ = __len__ = __iter__ = __getitem__ = __contains__ = _refused
    __hash__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __mul__ = __rmul__ = __mod__ = _refused

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        str(self)


def _leaves(value):
    if isinstance(value, Text):
        return [leaf for item in value.values for leaf in _leaves(item)]
    return [leaf for leaf in tree.flatten(lists.settled(value))[0] if isinstance(leaf, Array)]


def has_traced(value):
    """Whether something has traced values in it."""
    return isinstance(value, Text) or any(map(is_traced, _leaves(value)))


def _filled(value, numbers):
    """The value with numbers for its traced arrays, taken from an iterator in order."""
    if isinstance(value, Text):
        return value.make([_filled(item, numbers) for item in value.values])
    leaves, structure = tree.flatten(value)
    if not any(isinstance(leaf, (Array, Text)) for leaf in leaves):
        return value
    fill = lambda leaf: _filled(leaf, numbers) if isinstance(leaf, Text) else next(numbers) if isinstance(leaf, Array) else leaf
    return tree.unflatten(structure, [fill(leaf) for leaf in leaves])


def _known(value):
    """The value with the elements of its arrays, which are all known."""
    return _filled(value, iter([leaf.payload() for leaf in _leaves(value)]))


def _text(values, make, template):
    """The string, or a Text where values are traced."""
    if any(map(has_traced, values)):
        return Text(values, make, template)
    return make([_known(value) for value in values])


_CONVERSIONS = {-1: lambda value: value, 115: str, 114: repr, 97: ascii}


def joined(*parts):
    """An f-string: strings, and (value, conversion, format, source) of what stands in braces."""
    pieces = [part for part in parts if not isinstance(part, str)]

    def make(values):
        values = iter(values)
        return "".join(part if isinstance(part, str) else format(_CONVERSIONS[part[1]](next(values)), part[2]) for part in parts)

    return _text([piece[0] for piece in pieces], make, "".join(part if isinstance(part, str) else f"{{{part[3]}}}" for part in parts))


def formatted(template, args, kwargs):
    """`template.format(…)`."""
    make = lambda values: template.format(*values[: len(args)], **dict(zip(kwargs, values[len(args) :])))
    return _text([*args, *kwargs.values()], make, template)


def percent(template, values):
    """`template % values`."""
    return _text([values], lambda parts: template % parts[0], template)


def function(called):
    """`str`, `repr`, `format` of one value."""

    def rule(*args, **kwargs):
        if not args or not has_traced(args[0]):
            return called(*args, **kwargs) if not args or not _leaves(args[0]) else called(_known(args[0]), *args[1:], **kwargs)
        return _text([args[0]], lambda parts: called(parts[0], *args[1:]), "…")

    return rule


# Print


class Prints:
    """The prints of a Program, by number: what they are called with."""

    def __init__(self):
        self.sites = []

    def add(self, args, kwargs):
        """Probes what is printed; what has no traced value in it probes a constant, so that it happens where it stands."""
        trace, values = current(), [leaf for value in args for leaf in _leaves(value)]
        number = len(self.sites)
        loops = sum(frame.kind in ("for", "while") for frame in trace.bodies())
        self.sites.append((args, kwargs, [(leaf._scalar, leaf._weak) for leaf in values], loops))
        handles = [leaf.handle() for leaf in values] or [trace.constant(np.float64(0.0))]
        for k, handle in enumerate(handles):
            trace.op("probe", [handle], name=f"print {number} {k} {len(handles)}")

    def look(self, other):
        """What looks on while a program runs: prints, and shows what else is seen to another."""
        seen = {}

        def look(name, steps, array):
            if not name.startswith("print "):
                if other is not None:
                    other(name, steps, array)
                return
            number, k, count = map(int, name.split()[1:])
            if any(steps[: max(len(steps) - self.sites[number][3], 0)]):
                return  # a Jacobian runs the function for several seeds
            seen.setdefault(number, []).append(array)
            if k == count - 1:
                self._print(number, seen.pop(number))

        return look

    def _print(self, number, arrays):
        args, kwargs, kinds, _ = self.sites[number]
        numbers = iter([_number(array, *kind) for array, kind in zip(arrays, kinds)])
        print(*[_filled(value, numbers) for value in args], **kwargs)


def _number(array, scalar, weak):
    return array.item() if weak else array[()] if scalar else array


def printed(*args, **kwargs):
    """`print(…)` in a traced function."""
    trace = current()
    while trace.around is not None:
        trace = trace.around
    trace.prints.add([_shown(value) for value in args], kwargs)


def _shown(value):
    """What is printed as it is now: objects of the user's classes by their own methods, containers as copies."""
    from . import runtime

    for name in ("__str__", "__repr__"):
        method = getattr(type(value), name, None)
        if isinstance(method, types.FunctionType) and not isinstance(value, (Array, Text, np.ndarray, np.generic)):
            return runtime.call(method, value)
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple, dict)):
        leaves, structure = tree.flatten(lists.settled(value))
        return tree.unflatten(structure, leaves)
    return value
