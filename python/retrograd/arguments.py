"""The arguments of one call: arrays, numbers, or only their types, nested in tuples, lists, dicts and objects (`tree`)."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import bounds, errors, tree
from .array import Array
from .narrow import CARRIERS
from .options import integer
from .trace import DTYPES, current, refuse_dtype


# Most axes of an array, as in Type::MAX_RANK of the compiler.
AXES = 8


class Spec:
    """Shape and element type of an argument, without its elements."""

    shape = ()

    def __init__(self, shape, dtype=np.float64):
        extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        if len(extents) > AXES:
            raise errors.Unsupported(f"an array of {len(extents)} axes; at most {AXES} are supported", errors.here())
        self.shape = tuple(integer("shape", extent, 0, 2**63 - 1, "a tuple of ints that are not negative") for extent in extents)
        try:
            self.dtype = np.dtype(dtype)
        except TypeError:
            raise errors.ArgumentError(f"`dtype` is an element type such as np.float64, found {dtype!r}") from None

    def __repr__(self):
        return f"rg.spec({self.shape}, {self.dtype})"

    def __eq__(self, other):
        return isinstance(other, Spec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.dtype))


def spec(shape: int | Sequence[int], dtype: Any = np.float64) -> Spec:
    """Shape and element type of an argument: what `.plan` and `.compile` need."""
    return Spec(shape, dtype)


class Signature:
    """What a function takes. Calls by position, the usual ones, are bound without Python's own machinery, which is slow."""

    def __init__(self, parameters, name, static_numbers=(), static_names=()):
        self.name, self.signature = name, parameters
        self.static = self._static(list(parameters.parameters.values()), static_numbers, static_names)
        listed = list(parameters.parameters.values())
        self.names = [parameter.name for parameter in listed]
        by_position = all(parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) for parameter in listed)
        self.most = len(listed) if by_position else -1
        self.least = sum(parameter.default is parameter.empty for parameter in listed)

    @staticmethod
    def of(fun, name, static_numbers=(), static_names=()):
        try:
            return Signature(inspect.signature(fun), name, static_numbers, static_names)
        except (TypeError, ValueError):
            # Some functions of C do not say what they take.
            return Signature(inspect.signature(lambda *args, **kwargs: None), name, static_numbers, static_names)

    def _static(self, parameters, numbers, names):
        """The names of arguments that are no inputs."""
        by_position = [parameter.name for parameter in parameters if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
        for number in numbers:
            if not -len(by_position) <= number < len(by_position):
                raise errors.ArgumentError(f"static_argnums={number}: {self.name}() takes {len(by_position)} positional arguments")
        for name in names:
            if name not in [parameter.name for parameter in parameters]:
                raise errors.ArgumentError(f"static_argnames={name!r}: {self.name}() has no argument of that name")
        return frozenset([*(by_position[number] for number in numbers), *names])

    def bind(self, args, kwargs):
        """The arguments of a call."""
        if not kwargs and self.least <= len(args) <= self.most:
            return Arguments(args, kwargs, self.names, self.name, self.static)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise errors.ArgumentError(f"{self.name}(): {error}") from None
        return Arguments(bound.args, bound.kwargs, self._names(bound), self.name, self.static)

    def _names(self, bound):
        names = []
        for parameter in self.signature.parameters.values():
            if parameter.name not in bound.arguments:
                continue
            value = bound.arguments[parameter.name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{parameter.name}[{k}]" for k in range(len(value))]
            elif parameter.kind is parameter.VAR_KEYWORD:
                names += list(value)
            else:
                names.append(parameter.name)
        return names

    def to_json(self):
        parameters = self.signature.parameters.values()
        return [self.name, [[parameter.name, int(parameter.kind), parameter.default is not parameter.empty] for parameter in parameters]]

    @staticmethod
    def from_json(saved):
        name, parameters = saved
        empty = inspect.Parameter.empty
        made = [inspect.Parameter(parameter, inspect._ParameterKind(kind), default=None if optional else empty) for parameter, kind, optional in parameters]
        return Signature(inspect.Signature(made), name)


class Fixed(tree.Node):
    """An argument that is no input: its value is part of how the arguments are nested, with its class."""

    __slots__ = ()

    def __init__(self, value, path, name):
        super().__init__("static", value)
        try:
            hash(value)
        except TypeError:
            raise errors.ArgumentError(f"argument `{path}` of {name}() is static, and a {type(value).__name__} cannot be compared with another one by its hash; pass a tuple") from None

    def __eq__(self, other):
        return type(other) is Fixed and type(self.rest) is type(other.rest) and (self.rest is other.rest or self.rest == other.rest)

    def __hash__(self):
        return hash((type(self.rest), self.rest))

    def make(self, items):
        return self.rest


class Arguments:
    """The arguments of one call: leaves with their types, and how to put them back."""

    __slots__ = ("name", "args", "kwargs", "leaves", "types", "parts", "key")

    def __init__(self, args, kwargs, names, name, static=frozenset()):
        self.name, self.args, self.kwargs = name, args, kwargs
        self.leaves, self.types, self.parts = leaves, types, parts = [], [], []
        structures = []
        for value, path in zip((*args, *kwargs.values()) if kwargs else args, names):
            dtype = DTYPES.get(value.dtype) if type(value) is np.ndarray else None
            if dtype is not None:
                structures.append(None)
                parts.append((None, len(leaves), 1, path))
                leaves.append((value, ""))
                types.append((dtype, value.shape, ""))
                continue
            if path in static:
                structures.append((Fixed(value, path, name), ()))
                parts.append((structures[-1], len(leaves), 0, path))
                continue
            flat, structure = _flatten(value, f"argument `{path}` of {name}()")
            found = [check(leaf, lambda: f"argument `{tree.paths(value, path, objects=tree.ANY)[k]}` of {name}()") for k, leaf in enumerate(flat)]
            structures.append(structure)
            parts.append((structure, len(leaves), len(found), path))
            leaves += found
            types += [(DTYPES[_carrier(leaf.dtype)], leaf.shape, scalar) for leaf, scalar in found]
        self.key = (tuple(types), tuple(structures), len(args), tuple(kwargs))

    def rebuild(self, boxes):
        values = [tree.unflatten(structure, boxes[first : first + count]) for structure, first, count, _ in self.parts]
        return values[: len(self.args)], dict(zip(self.kwargs, values[len(self.args) :]))

    def names(self):
        """A name for each leaf, as one would write it."""
        values = [*self.args, *self.kwargs.values()]
        return [name for value, (_, _, count, path) in zip(values, self.parts) if count for name in tree.paths(value, path, objects=tree.ANY)]

    def arrays(self):
        """The leaves as machine code reads them."""
        for leaf, _ in self.leaves:
            if type(leaf) is Spec:
                raise errors.ArgumentError(f"{self.name}() was called with {leaf!r}; a run needs arrays")
        return [row_major(leaf) for leaf, _ in self.leaves]

    def chosen(self, argnums):
        """(structure, leaves by number) of each argument to differentiate."""
        result = []
        for number in argnums if isinstance(argnums, (tuple, list)) else (argnums,):
            if not isinstance(number, int) or not -len(self.args) <= number < len(self.args):
                raise errors.ArgumentError(f"argnums={number!r}: {self.name}() was called with {len(self.args)} positional arguments")
            structure, first, count, path = self.parts[number]
            static = [value for value in tree.statics(structure) if value is not None]
            if not count and static:
                raise errors.DTypeError(f"argument `{path}` of {self.name}() is a {type(getattr(static[0], 'value', static[0])).__name__}, in which nothing has a gradient; leave it out of argnums")
            for place, value in tree.statics_of(self.args[number], path):
                if isinstance(value, tree.Same):
                    found = type(value.value).__name__
                    raise errors.ArgumentError(f"argument `{place}` of {self.name}() must be a NumPy array or a number, found {found}; leave it out of argnums, or rg.register_pytree_node takes it apart")
            for k, (leaf, _) in enumerate(self.leaves[first : first + count]):
                if not _has_gradient(leaf) and structure is not None and tree.has_objects(structure):
                    continue
                if not _has_gradient(leaf):
                    path = tree.paths(self.args[number], path, objects=tree.ANY)[k]
                    width = ", of 32 or 64 bits" if leaf.dtype.kind == "f" else ""
                    raise errors.DTypeError(f"argument `{path}` of {self.name}() is {leaf.dtype}: only floats have a gradient{width}; pass it as a float, or leave it out of argnums")
            result.append((structure, [k if _has_gradient(self.leaves[k][0]) else None for k in range(first, first + count)]))
        return result

    def floats(self):
        """(structure, leaves by number) of every argument; what is not a float has no number."""
        number = lambda k: k if _has_gradient(self.leaves[k][0]) else None
        return [(structure, [number(k) for k in range(first, first + count)]) for structure, first, count, _ in self.parts]


def _flatten(value, where):
    try:
        return tree.flatten(value, objects=tree.ANY)
    except RecursionError:
        raise errors.ArgumentError(f"{where} refers to itself; rg.register_pytree_node says how it is taken apart") from None


def check(value, where):
    """(array or spec, whose scalar it is: "python", "large" for an integer of Python that needs more than 32 bits, "numpy" or none), or an error that names the argument: `where()`."""
    if isinstance(value, Array) and current() is not None:
        return value, ("python" if value._weak else "numpy") if value._scalar else ""
    if isinstance(value, Spec):
        array, scalar = value, ""
    elif isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (str, bytes)):
        large = type(value) is int and not -bounds.ARGUMENT <= value <= bounds.ARGUMENT
        array, scalar = np.asarray(value), "numpy" if isinstance(value, np.generic) else "large" if large else "python"
    elif isinstance(value, np.ndarray):
        if type(value) not in (np.ndarray, np.memmap):
            raise errors.Unsupported(f"{where()} is a {type(value).__name__}, whose operations mean something else; pass np.asarray of it")
        array, scalar = value, ""
    elif isinstance(value, complex):
        raise errors.Unsupported(f"{where()}: complex numbers are not supported")
    elif hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        array, scalar = _foreign(value, where), ""
    else:
        raise errors.ArgumentError(f"{where()} must be a NumPy array or a number, found {type(value).__name__}; rg.register_pytree_node takes objects apart")
    if array.dtype in CARRIERS:
        # Its own element type is part of what the function is compiled for.
        return array, f"{array.dtype}{' numpy' if scalar else ''}"
    if array.dtype not in DTYPES:
        error = errors.Unsupported if array.dtype.kind == "c" else errors.DTypeError
        raise error(f"{where()}: {refuse_dtype(array.dtype)}")
    return array, scalar


def _has_gradient(leaf):
    return leaf.dtype.kind == "f" and leaf.dtype not in CARRIERS


def _carrier(dtype):
    """The element type in which numbers of another one are computed with."""
    return CARRIERS.get(dtype, dtype)


def _foreign(value, where):
    """The elements of an array of another package, by the protocol that it has; without a copy where it allows that."""
    try:
        return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    except Exception as error:
        raise errors.ArgumentError(f"{where()} is a {type(value).__name__} that gives no NumPy array: {error}") from None


def row_major(array):
    """The array as machine code reads it; a copy only where it must be. Bools of odd bytes become 0 or 1."""
    if array.dtype in CARRIERS:
        if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
            raise errors.DTypeError("uint64 beyond 2**63 is not supported")
        array = array.astype(CARRIERS[array.dtype])
    if array.dtype.kind == "b":
        return np.asarray(np.logical_and(array, True))
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, requirements=["C", "A"])
