"""Nested values: tuples, lists and dicts of leaves; of arguments and results also None, dataclasses, registered classes and what is static."""

import collections
import dataclasses
import enum
import numbers
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .masked import Form, Masked
from .maybe import Maybe

# Classes that the user registered: type -> (to children and rest, from rest and children).
_REGISTERED = {}

# What has no elements: it is part of how a value is nested.
_STATIC = (str, bytes, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, enum.Enum, np.ufunc, type(np.sum))


# Containers of the standard library: type -> (to children, rest and names; from rest and children).
_CONTAINERS = {
    collections.OrderedDict: (lambda value: (list(value.values()), tuple(value), _keys(value)), lambda keys, items: collections.OrderedDict(zip(keys, items))),
    collections.defaultdict: (
        lambda value: (list(value.values()), (value.default_factory, tuple(value)), _keys(value)),
        lambda rest, items: collections.defaultdict(rest[0], zip(rest[1], items)),
    ),
    types.SimpleNamespace: (
        lambda value: (list(vars(value).values()), tuple(vars(value)), [f".{name}" for name in vars(value)]),
        lambda names, items: types.SimpleNamespace(**dict(zip(names, items))),
    ),
    collections.deque: (lambda value: (list(value), value.maxlen, [f"[{k}]" for k in range(len(value))]), lambda most, items: collections.deque(items, most)),
}

# What arguments and results may be made of besides: objects of the user's own classes by their attributes, and others as they are.
ANY = "any"


def _keys(value):
    return [f"[{key!r}]" for key in value]


class Same:
    """An object that is compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is Same and self.value is other.value

    def __hash__(self):
        return id(self.value)

    def __repr__(self):
        return f"a {type(self.value).__name__}"


class Node:
    """A kind of value besides tuples, lists and dicts: how it is taken apart is in `parts_of`, how it is made again here."""

    __slots__ = ("kind", "rest")

    def __init__(self, kind, rest):
        self.kind, self.rest = kind, rest

    def __eq__(self, other):
        return type(other) is Node and (self.kind, self.rest) == (other.kind, other.rest)

    def __hash__(self):
        return hash((self.kind, self.rest))

    def __repr__(self):
        return f"{getattr(self.kind, '__name__', self.kind)}({self.rest!r})"

    def make(self, items):
        """The value with these children."""
        if self.kind == "static":
            return self.rest.value if type(self.rest) is Same else self.rest
        if self.kind in _CONTAINERS:
            return _CONTAINERS[self.kind][1](self.rest, items)
        if self.kind in _REGISTERED:
            return _REGISTERED[self.kind][1](self.rest, tuple(items))
        made = object.__new__(self.kind)
        for name, item in zip(self.rest, items):
            object.__setattr__(made, name, item)
        return made


PERHAPS = Node(Maybe, ("flag", "value"))


def register_pytree_node(kind: type, flatten_func: Callable[[Any], tuple[Iterable[Any], Any]], unflatten_func: Callable[[Any, Any], Any]) -> None:
    """Makes a class one whose objects arguments and results may be, as in JAX: `flatten_func(object)` gives (children, the rest), where the rest can be
    compared and hashed; `unflatten_func(rest, children)` makes an object."""
    if kind in _REGISTERED:
        raise ValueError(f"{kind.__name__} is registered already")
    _REGISTERED[kind] = flatten_func, unflatten_func


def register_pytree_node_class(kind: type) -> type:
    """The same as a decorator, for a class with `tree_flatten` and `tree_unflatten`."""
    register_pytree_node(kind, lambda value: value.tree_flatten(), kind.tree_unflatten)
    return kind


def parts_of(value, objects=True):
    """(node, children, their names) of an object, of None or of something static; None where it is a leaf."""
    kind = type(value)
    if kind in _CONTAINERS:
        children, rest, names = _CONTAINERS[kind][0](value)
        return Node(kind, rest), children, names
    if value is None or isinstance(value, _STATIC) and not dataclasses.is_dataclass(kind):
        return Node("static", value), [], []
    if kind in _REGISTERED:
        children, rest = _REGISTERED[kind][0](value)
        children = list(children)
        return Node(kind, rest), children, [f"[{k}]" for k in range(len(children))]
    if dataclasses.is_dataclass(kind):
        names = tuple(dict.fromkeys([*(field.name for field in dataclasses.fields(kind)), *getattr(value, "__dict__", ())]))
        return Node(kind, names), [getattr(value, name) for name in names], [f".{name}" for name in names]
    if objects != ANY or isinstance(value, _LEAVES) or any(hasattr(value, name) for name in ("__array__", "__dlpack__", "shape", "__next__")):
        return None
    if type(getattr(value, "__dict__", None)) is dict and kind.__new__ is object.__new__ and _is_users(kind):
        names = tuple(value.__dict__)
        return Node(kind, names), [value.__dict__[name] for name in names], [f".{name}" for name in names]
    return Node("static", Same(value)), [], []


# What is no part of a nest: numbers of whatever kind, and containers that are not taken apart.
_LEAVES = (numbers.Number, np.ndarray, np.generic, set, frozenset, dict, list, tuple, bytearray, memoryview, range, BaseException)


def _is_users(kind):
    """Whether a class is the user's own, not that of a package."""
    from .calls import _is_users_class

    return _is_users_class(kind)


def flatten(value, objects=False):
    """(leaves, structure): the leaves in order, and what is needed to put them back. With `objects` also of None, of objects, and of what is static."""
    if isinstance(value, (tuple, list)):
        items, kind = value, type(value)
    elif type(value) is dict:
        items, kind = value.values(), ("dict", tuple(value))
    elif type(value) is Maybe:
        items, kind = (value.flag, value.value), PERHAPS
    elif type(value) is Masked and not objects:
        return [value.values], (Form(value), (None,))
    else:
        parts = parts_of(value, objects) if objects else None
        if parts is None:
            return [value], None
        kind, items, _ = parts
    parts = [flatten(item, objects) for item in items]
    return [leaf for leaves, _ in parts for leaf in leaves], (kind, tuple(shape for _, shape in parts))


def flatten_as(structure, value):
    """The leaves of a value in the order of a structure, whatever the order of its dicts; None where it is nested otherwise."""
    if structure is None:
        return None if isinstance(value, (tuple, list, dict)) else [value]
    kind, parts = structure
    if isinstance(kind, Node):
        if kind.kind == "static":
            return []
        found = parts_of(value, ANY)
        items = found[1] if found is not None and found[0] == kind else None
    elif isinstance(kind, tuple):
        items = [value[key] for key in kind[1]] if type(value) is dict and set(value) == set(kind[1]) else None
    else:
        items = list(value) if type(value) is kind else None
    if items is None or len(items) != len(parts):
        return None
    found = [flatten_as(part, item) for part, item in zip(parts, items)]
    return None if any(leaves is None for leaves in found) else [leaf for leaves in found for leaf in leaves]


def unflatten(structure, leaves):
    """The value of that structure with these leaves."""
    return _build(structure, iter(leaves))


def maker(template):
    """The function that puts elements of a list where their places are in a nested template."""
    places, structure = flatten(template, objects=ANY)
    return _maker(structure, iter(places))


def _maker(structure, places):
    if structure is None:
        return operator.itemgetter(next(places))
    kind, parts = structure
    if kind is tuple and len(parts) > 1 and all(part is None for part in parts):
        return operator.itemgetter(*[next(places) for _ in parts])
    items = [_maker(part, places) for part in parts]
    return lambda results: _joined(kind, [make(results) for make in items])


def has_objects(structure):
    """Whether objects are part of a structure."""
    return structure is not None and (isinstance(structure[0], Node) and structure[0].kind != "static" or any(map(has_objects, structure[1])))


def statics(structure):
    """What is static in a structure."""
    if structure is None:
        return []
    kind, parts = structure
    own = [kind.rest] if isinstance(kind, Node) and kind.kind == "static" else []
    return [*own, *(value for part in parts for value in statics(part))]


def paths(value, name, objects=False):
    """A name for each leaf, as one would write it: `state[0]`."""
    if isinstance(value, (tuple, list)):
        fields = getattr(type(value), "_fields", None)
        items = zip([f".{field}" for field in fields] if fields else [f"[{k}]" for k in range(len(value))], value)
    elif type(value) is dict:
        items = [(f"[{key!r}]", item) for key, item in value.items()]
    elif type(value) is Maybe:
        items = [(" is not None", value.flag), ("", value.value)]
    else:
        parts = parts_of(value, objects) if objects else None
        if parts is None:
            return [name]
        items = zip(parts[2], parts[1])
    return [path for part, item in items for path in paths(item, f"{name}{part}", objects)]


def statics_of(value, name):
    """What is static in a value, as pairs of a name, as one would write it, and the thing itself; objects as `Same`."""
    if isinstance(value, (tuple, list)):
        items = [(f"[{k}]", item) for k, item in enumerate(value)]
    elif type(value) is dict:
        items = [(f"[{key!r}]", item) for key, item in value.items()]
    else:
        parts = parts_of(value, ANY)
        if parts is None:
            return []
        if parts[0].kind == "static":
            return [(name, parts[0].rest)]
        items = zip(parts[2], parts[1])
    return [found for part, item in items for found in statics_of(item, f"{name}{part}")]


def _build(structure, leaves):
    if structure is None:
        return next(leaves)
    kind, parts = structure
    return _joined(kind, [_build(part, leaves) for part in parts])


def _joined(kind, items):
    if isinstance(kind, tuple):
        return dict(zip(kind[1], items))
    if not isinstance(kind, type):
        return kind.make(items)
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


# What users call


class TreeDef:
    """How a value is nested: what `rg.tree_structure` gives and `rg.tree_unflatten` takes."""

    __slots__ = ("structure",)

    def __init__(self, structure):
        self.structure = structure

    def __eq__(self, other):
        return isinstance(other, TreeDef) and self.structure == other.structure

    def __hash__(self):
        return hash(self.structure)

    @property
    def num_leaves(self):
        count = lambda structure: 1 if structure is None else sum(map(count, structure[1]))
        return count(self.structure)

    def __repr__(self):
        return f"TreeDef({unflatten(self.structure, [_Star()] * self.num_leaves)!r})"


class _Star:
    def __repr__(self):
        return "*"


def tree_flatten(tree: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of a nested value, and how they are nested.

        >>> rg.tree_flatten({"a": 1.0, "b": (2.0, None)})
        ([1.0, 2.0], TreeDef({'a': *, 'b': (*, None)}))
    """
    leaves, structure = flatten(tree, objects=True)
    return leaves, TreeDef(structure)


def tree_unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """The nested value with these leaves."""
    leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise ValueError(f"{treedef.num_leaves} leaves are needed, found {len(leaves)}")
    return unflatten(treedef.structure, leaves)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of a nested value, in order."""
    return flatten(tree, objects=True)[0]


def tree_structure(tree: Any) -> TreeDef:
    """How a value is nested."""
    return TreeDef(flatten(tree, objects=True)[1])


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """`f` of the leaves of nested values, nested as the first is.

        >>> rg.tree_map(lambda p, g: p - 0.1 * g, {"w": 2.0}, {"w": 10.0})
        {'w': 1.0}
    """
    leaves, structure = flatten(tree, objects=True)
    others = [flatten_as(structure, other) for other in rest]
    if any(other is None for other in others):
        raise ValueError("the trees are nested differently")
    return unflatten(structure, [f(*group) for group in zip(leaves, *others)])


def tree_reduce(f: Callable[[Any, Any], Any], tree: Any, *initial: Any) -> Any:
    """`functools.reduce` over the leaves."""
    import functools

    return functools.reduce(f, tree_leaves(tree), *initial)
