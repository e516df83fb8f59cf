"""Nested tuples, lists and dicts of leaves: what arguments, results and loop states may be."""

import operator


def flatten(value):
    """(leaves, structure): the leaves in order, and what is needed to put them back."""
    if isinstance(value, (tuple, list)):
        parts = [flatten(item) for item in value]
        return [leaf for leaves, _ in parts for leaf in leaves], (_sequence(value), tuple(shape for _, shape in parts))
    if type(value) is dict:
        parts = [flatten(item) for item in value.values()]
        return [leaf for leaves, _ in parts for leaf in leaves], (("dict", tuple(value)), tuple(shape for _, shape in parts))
    return [value], None


def flatten_as(structure, value):
    """The leaves of a value in the order of a structure, whatever the order of its dicts; None where it is nested otherwise."""
    if structure is None:
        return None if isinstance(value, (tuple, list, dict)) else [value]
    kind, parts = structure
    if isinstance(kind, tuple):
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
    """The function that puts elements of a list where their places are in a nested template; None stays None."""
    if template is None:
        return lambda results: None
    if isinstance(template, int):
        return operator.itemgetter(template)
    if type(template) is tuple and len(template) > 1 and all(type(item) is int for item in template):
        return operator.itemgetter(*template)
    items = [maker(item) for item in (template.values() if type(template) is dict else template)]
    if type(template) is dict:
        keys = tuple(template)
        return lambda results: dict(zip(keys, [make(results) for make in items]))
    kind = type(template)._make if hasattr(template, "_fields") else type(template)
    return lambda results: kind([make(results) for make in items])


def paths(value, name):
    """A name for each leaf, as one would write it: `state[0]`."""
    if isinstance(value, (tuple, list)):
        return [path for k, item in enumerate(value) for path in paths(item, f"{name}[{k}]")]
    if type(value) is dict:
        return [path for key, item in value.items() for path in paths(item, f"{name}[{key!r}]")]
    return [name]


def _sequence(value):
    return type(value)


def _build(structure, leaves):
    if structure is None:
        return next(leaves)
    kind, parts = structure
    items = [_build(part, leaves) for part in parts]
    if isinstance(kind, tuple):
        return dict(zip(kind[1], items))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)
