"""Derivatives that the user states: `custom_vjp`, `custom_jvp`, and what is built on them."""

import collections
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import errors, tree, views
from .array import Array, is_weak, lift, traced
from .control import is_data
from .outcome import place_of, readable
from .trace import NUMPY, Frame, current, is_float

# What a value is besides its elements; `weak` where it stands for a Python number.
Kind = collections.namedtuple("Kind", ("dtype", "shape", "scalar", "weak"))


class custom_vjp:
    """A function whose derivative in reverse mode is stated by two others, as in JAX.

        @rg.custom_vjp
        def clip_gradient(x):
            return x

        clip_gradient.defvjp(lambda x: (x, None), lambda residuals, ct: (np.clip(ct, -1.0, 1.0),))

    `forward(*args)` gives the result and residuals, `backward(residuals, ct)` a tuple with a cotangent per argument (None is zero). Outside
    of a trace it is the function itself. All of them read nothing but their arguments.
    """

    def __init__(self, fun):
        functools.update_wrapper(self, fun)
        self.fun, self.forward, self.backward = fun, None, None

    def defvjp(self, forward, backward):
        """States the derivative."""
        self.forward, self.backward = forward, backward

    def __call__(self, *args):
        if current() is None:
            return self.fun(*args)
        if self.backward is None:
            raise errors.ArgumentError(f"{self.__name__} has no derivative yet; state it with .defvjp(forward, backward)", errors.here())
        call = Call(args)
        body, structure = call.function(self.fun, call.kinds, call.arguments)
        results, residuals = call.results, []

        def forward(*args):
            result, kept = readable(self.forward)(*args)
            leaves, shape = tree.flatten(kept)
            residuals.append((shape, [None if leaf is None else kind_of(leaf) for leaf in leaves]))
            return result, [leaf for leaf in leaves if leaf is not None]

        fwd, _ = call.function(forward, call.kinds, call.arguments)
        shape, kept = residuals.pop()
        kinds = [kind for kind in kept if kind is not None]
        of_results = [kind for kind in results if is_float(kind.dtype)]

        def backward(boxes):
            rest = iter(boxes)
            kept_boxes = [None if kind is None else next(rest) for kind in kept]
            cts = [next(rest) if is_float(kind.dtype) else zeros(kind) for kind in results]
            found = readable(self.backward)(tree.unflatten(shape, kept_boxes), tree.unflatten(structure, cts))
            return call.cotangents(found)

        bwd, _ = call.function(backward, [*kinds, *of_results], lambda boxes: [boxes], again=False)
        return call.finish(body, "vjp", [fwd, bwd], structure, results)


class custom_jvp:
    """A function whose derivative is stated by another, as in JAX: `tangent(primals, tangents)` gives the result and its tangent.

    The tangent is linear in `tangents`; reverse mode is its transpose.
    """

    def __init__(self, fun):
        functools.update_wrapper(self, fun)
        self.fun, self.tangent = fun, None

    def defjvp(self, tangent):
        """States the derivative."""
        self.tangent = tangent
        return tangent

    def __call__(self, *args):
        if current() is None:
            return self.fun(*args)
        if self.tangent is None:
            raise errors.ArgumentError(f"{self.__name__} has no derivative yet; state it with .defjvp(tangent)", errors.here())
        call = Call(args)
        body, structure = call.function(self.fun, call.kinds, call.arguments)
        results = call.results

        def tangent(boxes):
            rest = iter(boxes[len(call.kinds) :])
            tangents = [next(rest) if is_float(kind.dtype) else zeros(kind) for kind in call.kinds]
            found = readable(self.tangent)(tuple(call.arguments(boxes[: len(call.kinds)])), tuple(call.arguments(tangents)))
            leaves = tree.flatten_as(structure, found[1])
            if leaves is None:
                raise errors.ArgumentError("the tangent must be nested as the result is", errors.here())
            return [zeros(kind) if leaf is None else converted(leaf, kind) for leaf, kind in zip(leaves, results) if is_float(kind.dtype)]

        floats = [kind for kind in call.kinds if is_float(kind.dtype)]
        dot, _ = call.function(tangent, [*call.kinds, *floats], lambda boxes: [boxes])
        return call.finish(body, "jvp", [dot], structure, results)


def stop_gradient(x: Any) -> Any:
    """The same values, taken as constants by every derivative."""
    leaves, structure = tree.flatten(x)
    return tree.unflatten(structure, [_still(leaf) for leaf in leaves])


def _still(leaf):
    if current() is None or not isinstance(leaf, Array) or leaf.payload() is not None or leaf.dtype.kind != "f":
        return leaf
    still = custom_jvp(_same)
    still.defjvp(lambda primals, tangents: (primals[0], zeros(kind_of(primals[0]))))
    return still(leaf)


def _same(x):
    return x


def probe(x: Any, name: str) -> Any:
    """`x`, shown under a name to whoever observes the run (`rg.observe`), once per step of the loops around it.

    Steps that are run again for a gradient show nothing, whatever the budget. Outside of `rg.observe` it does nothing.
    """
    if current() is not None and isinstance(x, Array):
        current().op("probe", [x.handle()], name=str(name))
    return x


def check(condition: Any, message: str, raises: type[Exception] | None = None) -> None:
    """Ends a run with `message`, at this line, unless all of `condition` holds: every loop around it is left at once.

    The exception is an `rg.CheckError`, and also one of the class `raises`, if that is given. Only the first execution of a step checks:
    steps that are run again for a gradient do not. Of several checks the first in the order of the function is the one that fails,
    whatever the budget, back end or number of threads. A gradient checks what its function does.
    """
    tag = "" if raises is None else errors.tag_of(raises)
    if current() is None:
        if not np.all(condition):
            raise errors.of_check(str(message), errors.here(), tag)
        return
    condition = condition if isinstance(condition, Array) else np.asarray(condition)
    if condition.dtype != np.bool_:
        condition = condition != 0
    current().tracer.check(lift(condition, "a condition"), str(message), tag, errors.here())


def probe_cotangent(x: Any, name: str) -> Any:
    """`x`, whose cotangent in reverse mode is shown under a name, as by `rg.probe`."""
    return map_cotangent(x, lambda ct: probe(ct, name))


def map_cotangent(x: Any, change: Callable[[Any], Any]) -> Any:
    """`x`, whose cotangent in reverse mode is `change(ct)`: to look at it in other units, to scale, to clip or to replace it."""
    same = custom_vjp(_same)
    same.defvjp(lambda x: (x, ()), lambda _, ct: (change(ct),))
    return same(x)


def clip_cotangent(x: Any, low: float, high: float) -> Any:
    """`x`, whose cotangent in reverse mode is kept between `low` and `high`."""
    return map_cotangent(x, lambda ct: np.minimum(np.maximum(ct, low), high))


class Call:
    """A call under way of a function with a derivative of its own."""

    def __init__(self, args):
        self.pos = errors.here()
        self.parts = [tree.flatten(arg) for arg in args]
        self.leaves = [leaf for leaves, _ in self.parts for leaf in leaves]
        for leaf in self.leaves:
            if not is_data(leaf) and not isinstance(leaf, np.ndarray):
                raise errors.ArgumentError(f"an argument must be an array or a number, found {type(leaf).__name__}", self.pos)
        self.kinds = [kind_of(leaf) for leaf in self.leaves]
        self.results = None

    def arguments(self, boxes):
        """The arguments with other leaves."""
        rest = iter(boxes)
        return [tree.unflatten(structure, [next(rest) for _ in leaves]) for leaves, structure in self.parts]

    def function(self, fun, kinds, arguments, again=True):
        """A function of the Program over parameters of these kinds; its number, and how its result is nested. `again`: a derivative may run it twice."""
        trace, pos = current(), place_of(fun) or self.pos
        params = trace.tracer.begin_function([(kind.dtype, list(kind.shape)) for kind in kinds], self.pos)
        frame = Frame("call", self.pos)
        frame.again = again
        trace.push(frame)
        boxes = [traced(param, scalar=kind.scalar, weak=kind.weak) for param, kind in zip(params, kinds)]
        result = readable(fun)(*arguments(boxes))
        if frame.mutated:
            raise errors.Unsupported("a function with a derivative of its own changes an array from outside in place", pos)
        leaves, structure = tree.flatten(result)
        handles = [lift(leaf, "a result") for leaf in leaves]
        self.results = [kind_of(leaf) for leaf in leaves]
        number = trace.tracer.end_function(handles)
        trace.pop(frame)
        return number, structure

    def cotangents(self, found):
        """One cotangent per float among the leaves of the arguments, from what a backward function returned."""
        if not isinstance(found, tuple) or len(found) != len(self.parts):
            raise errors.ArgumentError(f"a backward function returns a tuple of {len(self.parts)} cotangents, one per argument", self.pos)
        result = []
        for ct, (leaves, structure) in zip(found, self.parts):
            parts = [None] * len(leaves) if ct is None else tree.flatten_as(structure, ct)
            if parts is None:
                raise errors.ArgumentError("a cotangent must be nested as its argument is", self.pos)
            for part, leaf in zip(parts, leaves):
                kind = kind_of(leaf)
                if not is_float(kind.dtype):
                    continue
                part = zeros(kind) if part is None else part
                if kind_of(part).shape != kind.shape:
                    raise errors.ShapeError(f"a cotangent of shape {kind.shape} is needed, found {kind_of(part).shape}", self.pos)
                result.append(converted(part, kind))
        return result

    def finish(self, body, rule, functions, structure, kinds):
        trace = current()
        results = trace.tracer.call(body, rule, functions, [lift(leaf) for leaf in self.leaves], self.pos)
        return tree.unflatten(structure, [traced(result, weak=kind.weak) for result, kind in zip(results, kinds)])


def kind_of(value):
    """The kind of an array or a number."""
    handle = lift(value)
    dtype, shape = current().type(handle)
    return Kind(dtype, tuple(shape), not shape and not (isinstance(value, Array) and not value._scalar), is_weak(value))


def zeros(kind):
    """A value of zeros."""
    return traced(lift(np.zeros(kind.shape, NUMPY[kind.dtype])), scalar=kind.scalar, weak=kind.weak)


def converted(value, kind):
    """A derivative in the element type of what it belongs to."""
    return traced(views.convert(current(), lift(value), kind.dtype), scalar=kind.scalar, weak=kind.weak)
