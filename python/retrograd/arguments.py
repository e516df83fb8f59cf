"""The arguments of one call: arrays, numbers, or only their types, in nested tuples, lists and dicts."""

import numpy as np

from . import errors, tree
from .array import Array
from .trace import DTYPES, current, refuse_dtype


class Spec:
    """Shape and element type of an argument, without its elements."""

    def __init__(self, shape, dtype=np.float64):
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype = np.dtype(dtype)

    def __repr__(self):
        return f"rg.spec({self.shape}, {self.dtype})"


def spec(shape, dtype=np.float64):
    """Shape and element type of an argument: what `.plan` and `.compile` need."""
    return Spec(shape, dtype)


class Arguments:
    """The arguments of one call: leaves with their types, and how to put them back."""

    def __init__(self, signature, bound, name):
        self.args, self.kwargs = bound.args, bound.kwargs
        values = [*bound.args, *bound.kwargs.values()]
        names = self._names(signature, bound)
        self.leaves, self.types, self.parts = [], [], []
        for value, path in zip(values, names):
            leaves, structure = tree.flatten(value)
            checked = [check(leaf, where, name) for leaf, where in zip(leaves, tree.paths(value, path))]
            self.parts.append((structure, len(self.leaves), len(checked), path))
            self.leaves += checked
        self.types = [(DTYPES[leaf.dtype], leaf.shape, scalar) for leaf, scalar in self.leaves]
        self.key = (tuple(self.types), tuple(structure for structure, *_ in self.parts), len(self.args), tuple(self.kwargs))

    @staticmethod
    def _names(signature, bound):
        names = []
        for parameter in signature.parameters.values():
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

    def rebuild(self, boxes):
        values = [tree.unflatten(structure, boxes[first : first + count]) for structure, first, count, _ in self.parts]
        return values[: len(self.args)], dict(zip(self.kwargs, values[len(self.args) :]))

    def arrays(self, name):
        """The leaves as machine code reads them."""
        for leaf, _ in self.leaves:
            if isinstance(leaf, Spec):
                raise errors.ArgumentError(f"{name}() was called with {leaf!r}; a run needs arrays")
        return [row_major(leaf) for leaf, _ in self.leaves]

    def chosen(self, argnums, name):
        """(structure, leaves by number) of each argument to differentiate."""
        result = []
        for number in argnums if isinstance(argnums, (tuple, list)) else (argnums,):
            if not isinstance(number, int) or not -len(self.args) <= number < len(self.args):
                raise errors.ArgumentError(f"argnums={number!r}: {name}() was called with {len(self.args)} positional arguments")
            structure, first, count, path = self.parts[number]
            for leaf, _ in self.leaves[first : first + count]:
                if leaf.dtype.kind != "f":
                    raise errors.DTypeError(f"argument `{path}` of {name}() is {leaf.dtype}: only floats have a gradient; pass it as a float, or leave it out of argnums")
            result.append((structure, list(range(first, first + count))))
        return result

    def floats(self):
        """(structure, leaves by number) of every argument; what is not a float has no number."""
        number = lambda k: k if self.leaves[k][0].dtype.kind == "f" else None
        return [(structure, [number(k) for k in range(first, first + count)]) for structure, first, count, _ in self.parts]


def check(value, name, function):
    """(array or spec, whose scalar it is: "python", "numpy" or none), or an error that names the argument."""
    where = f"argument `{name}` of {function}()"
    if isinstance(value, Array) and current() is not None:
        return value, ("python" if value._weak else "numpy") if value._scalar else ""
    if isinstance(value, Spec):
        array, scalar = value, ""
    elif isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (str, bytes)):
        array, scalar = np.asarray(value), "numpy" if isinstance(value, np.generic) else "python"
    elif isinstance(value, np.ndarray):
        array, scalar = value, ""
    elif isinstance(value, complex):
        raise errors.Unsupported(f"{where}: complex numbers are not supported")
    else:
        raise errors.ArgumentError(f"{where} must be a NumPy array or a number, found {type(value).__name__}")
    if array.dtype not in DTYPES:
        error = errors.Unsupported if array.dtype.kind == "c" else errors.DTypeError
        raise error(f"{where}: {refuse_dtype(array.dtype)}")
    return array, scalar


def row_major(array):
    """The array as machine code reads it; a copy only where it must be. Bools of odd bytes become 0 or 1."""
    if array.dtype.kind == "b":
        return np.asarray(np.logical_and(array, True))
    return np.require(array, requirements=["C", "A"])
