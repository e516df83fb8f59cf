"""Functions of the host: plain Python that runs when a compiled function runs, not when it is traced."""

import functools
import itertools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native, custom, errors, tree, views
from .arguments import Spec, check
from .array import Array, is_weak, lift, traced
from .rewrite import is_rewritten
from .trace import DTYPES, NUMPY, current, is_float, tracing

TAG = "retrograd.external"

_local = threading.local()
_numbers = itertools.count()
_sites = weakref.WeakValueDictionary()


def external(fun: Callable[..., Any] | None = None, *, result: Any, vjp: Callable[..., Any] | None = None, pure: bool = False) -> Any:
    """A function that a compiled function calls when it runs: a library, a simulation, a file; as a decorator without `fun`.

    `fun` gets NumPy arrays (numbers as they were given) and returns what `result` says: an `rg.spec`, or several,
    nested as the result is; or a function from the specs of the arguments to that. It is called once each time that
    the line runs, on the thread that called, and never again for a gradient: what it gave is kept, is part of
    `plan.bytes_peak`, and a budget without room for it is refused. In a loop that is all that it gave in all steps,
    so that under a gradient the number of steps must be known before the run; the loop runs once more to read it.
    With `pure=True` it gives the same for the same arguments, and may be called again instead. Memory of `fun` itself
    is not counted. An exception ends the run, and is the one that the caller gets. What calls it cannot be saved.

    `vjp(args, result, ct)` gives a tuple with a cotangent per argument, None for zero: it is a function of the host,
    too, called once per call of `fun`; where it was made by `rg.jit` or `rg.external` it is part of what is traced,
    and differentiated again by what it has. Without it, differentiating is an error.

        >>> from math import erf
        >>> slope = lambda args, y, ct: (ct * 2.0 / np.sqrt(np.pi) * np.exp(-args[0] ** 2),)
        >>> host = rg.external(lambda x: erf(x), result=rg.spec(()), vjp=slope)
        >>> float(rg.grad(lambda x: host(x) ** 2)(0.0)), round(float(rg.grad(lambda x: host(x))(0.0)), 4)
        (0.0, 1.1284)
    """
    if fun is None:
        return functools.partial(external, result=result, vjp=vjp, pure=pure)
    for what, given in (("a function of the host", fun), ("`vjp`", vjp)):
        if given is not None and not callable(given):
            raise errors.ArgumentError(f"{what} is something to call, found {type(given).__name__}", errors.here())
    if isinstance(fun, types.FunctionType) and is_rewritten(fun):
        raise errors.Unsupported(f"{fun.__name__}() is made inside of the function that is traced; make a function of the host outside of it", errors.here())
    if not isinstance(pure, bool):
        raise errors.ArgumentError(f"`pure` is True or False, found {pure!r}", errors.here())
    wanted = result if callable(result) and not isinstance(result, type) else _Wanted(result)
    try:
        return _made(fun, wanted, vjp, pure)
    except TypeError:  # not hashable
        return External(fun, wanted, vjp, pure)


class _Wanted:
    """The types of what a function gives, nested as that is; it compares."""

    def __init__(self, result):
        leaves, self.structure = tree.flatten(result)
        self.specs = tuple(_spec(leaf) for leaf in leaves)
        if not self.specs:
            raise errors.ArgumentError("an external function gives one array at least", errors.here())

    def key(self):
        return self.structure, tuple((spec.shape, spec.dtype) for spec in self.specs)

    def __eq__(self, other):
        return isinstance(other, _Wanted) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


def _spec(leaf):
    if isinstance(leaf, type) and issubclass(leaf, (bool, int, float, np.generic)):
        leaf = Spec((), leaf)
    if isinstance(leaf, (bool, int, float)):
        leaf = Spec((), np.asarray(leaf).dtype)
    if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
        raise errors.ArgumentError(f"`result` is an rg.spec, or several, nested as what the function returns; found {leaf!r}", errors.here())
    spec = Spec(tuple(leaf.shape), leaf.dtype)
    if spec.dtype not in DTYPES:
        raise errors.DTypeError(f"`result` of an external function: {spec.dtype} is not supported", errors.here())
    return spec


class External:
    """A function of the host, made by `rg.external`."""

    def __init__(self, fun, wanted, vjp, pure):
        functools.update_wrapper(self, fun, updated=())
        self.fun, self.wanted, self.vjp, self.pure = fun, wanted, vjp, pure
        self.name = getattr(fun, "__qualname__", type(fun).__name__)
        self.sites = {}

    def __repr__(self):
        return f"rg.external({self.name}{', pure=True' if self.pure else ''})"

    def __call__(self, *args, **kwargs):
        trace = current()
        if trace is None:
            leaves, structure = tree.flatten((args, kwargs), objects=True)
            kinds = [_kind(*check(leaf, lambda: f"an argument of {self.name}()")) for leaf in leaves]
            return Site(self, structure, kinds).results(self.fun(*args, **kwargs))
        pos = errors.here()
        if not self.pure and any(frame.kind == "call" and frame.again for frame in trace.frames):
            raise errors.Unsupported(f"{self.name}() in a function with a derivative of its own, which may run twice; give it its `vjp`, or pure=True", pos)
        leaves, structure = tree.flatten((args, kwargs), objects=True)
        leaves = [check(leaf, lambda: f"an argument of {self.name}()") for leaf in leaves]
        site = self.site(structure, [_kind(*leaf) for leaf in leaves])
        outermost = trace
        while outermost.around is not None:
            outermost = outermost.around
        outermost.externals.append(site)
        given = [leaf for leaf, _ in leaves]
        results = site.emit(trace, given, pos)
        from_floats = any(is_float(dtype) for dtype, _, _ in site.kinds)
        if self.vjp is not None and from_floats and any(spec.dtype.kind == "f" for spec in site.wanted.specs):
            results = site.with_rule(given, results)
        return tree.unflatten(site.wanted.structure, results)

    def site(self, structure, kinds):
        """What is called with arguments of these types; the same each time, so that Programs are the same."""
        try:
            return self.sites.setdefault((structure, tuple(kinds)), Site(self, structure, kinds))
        except TypeError:
            return Site(self, structure, kinds)


_made = functools.lru_cache(maxsize=256)(External)


def _kind(leaf, scalar):
    dtype, shape = DTYPES[leaf.dtype], tuple(leaf.shape)
    return dtype, shape, "python" if scalar == "python" or isinstance(leaf, Array) and is_weak(leaf) else scalar


class Site:
    """An external function with arguments of fixed types. What it gives is one vector, in which 0 comes first where nothing went wrong."""

    def __init__(self, external, structure, kinds):
        self.external, self.structure, self.kinds = external, structure, list(kinds)
        self.wanted = external.wanted
        if not isinstance(self.wanted, _Wanted):
            specs = tree.unflatten(structure, [Spec(shape, NUMPY[dtype]) for dtype, shape, _ in self.kinds])
            self.wanted = _Wanted(self.wanted(*specs[0], **specs[1]))
        dtypes = {np.dtype(np.int32) if spec.dtype.kind == "b" else spec.dtype for spec in self.wanted.specs}
        self.dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.float64)
        self.places, size = [], 1
        for spec in self.wanted.specs:
            words = int(np.prod(spec.shape, dtype=np.int64)) * (2 if self._in_halves(spec) else 1)
            self.places.append((size, size + words))
            size += words
        self.size, self.number = size, next(_numbers)
        _sites[self.number] = self

    def _in_halves(self, spec):
        """Integers of 64 bits among floats are two of 32: all of these are floats."""
        return spec.dtype == np.int64 and self.dtype.kind == "f"

    # While a function is traced

    def emit(self, trace, given, pos):
        handles = []
        for leaf, (dtype, shape, _) in zip(given, self.kinds):
            handle = views.convert(trace, lift(leaf), "i32") if dtype == "bool" else lift(leaf)
            # Its rule is stated around it. Numbers go by memory, as arrays do.
            handle = trace.tracer.op("still", {"shape": list(shape)}, [handle], pos) if self.external.vjp is not None and is_float(dtype) else handle
            handles.append(handle if shape else trace.tracer.op("broadcast", {"shape": [1], "axes": []}, [handle], pos))
        row = "pure_external" if self.external.pure else "external"
        attrs = {"type": (DTYPES[self.dtype], [self.size]), "number": [self.number], "name": self.external.name}
        packed = traced(trace.tracer.op(row, attrs, handles, pos))
        trace.tracer.check(lift(packed[0] == 0), f"{self.external.name}() failed", TAG, pos)
        return [self._unpacked(packed, first, last, spec) for (first, last), spec in zip(self.places, self.wanted.specs)]

    def _unpacked(self, packed, first, last, spec):
        words = packed[first:last]
        if self._in_halves(spec):
            high, low = np.split(words, 2)
            words = high.astype(np.int64) * 2**32 + low.astype(np.int64)
        elements = np.reshape(words.astype(spec.dtype) if words.dtype != spec.dtype else words, spec.shape)
        return elements[()] if spec.shape == () else elements.copy()

    def with_rule(self, given, results):
        """The results, whose derivative is what `vjp` says."""
        rule = custom.custom_vjp(lambda given, results: results)
        rule.__name__ = self.external.name

        def backward(residuals, ct):
            given, results = residuals
            return self._pulled(given, results, ct), None

        rule.defvjp(lambda given, results: (results, (given, results)), backward)
        return rule(list(given), list(results))

    def _pulled(self, given, results, ct):
        """Cotangents of the leaves of the arguments."""
        (args, kwargs), vjp = tree.unflatten(self.structure, given), self.external.vjp
        result, ct = (tree.unflatten(self.wanted.structure, list(leaves)) for leaves in (results, ct))
        if kwargs:
            raise errors.Unsupported(f"{self.external.name}() with a vjp takes its arguments by position", errors.here())
        if isinstance(vjp, External) or type(vjp).__name__ == "Transformed":
            return self._of_arguments(vjp(tuple(args), result, ct))
        floats = [k for k, (dtype, _, _) in enumerate(self.kinds) if is_float(dtype)]

        def host(args, result, ct):
            found = self._of_arguments(vjp(args, result, ct))
            return [np.zeros(self.kinds[k][1]) if found[k] is None else found[k] for k in floats]

        host.__qualname__ = f"the vjp of {self.external.name}"
        specs = _Wanted([Spec(self.kinds[k][1], NUMPY[self.kinds[k][0]]) for k in floats])
        found = iter(self._host(host, specs)(tuple(args), result, ct))
        return [next(found) if k in floats else None for k in range(len(self.kinds))]

    def _host(self, host, specs):
        """The vjp as an external function; the same each time."""
        if not hasattr(self, "_pull"):
            self._pull = External(host, specs, None, self.external.pure)
        return self._pull

    def _of_arguments(self, found):
        args = self.structure[1][0][1]
        if not isinstance(found, (tuple, list)) or len(found) != len(args):
            raise errors.ArgumentError(f"the vjp of {self.external.name}() gives a tuple of {len(args)} cotangents, one per argument; found {_words(found)}")
        result = []
        for ct, structure in zip(found, args):
            count = tree.TreeDef(structure).num_leaves
            leaves = [None] * count if ct is None else tree.flatten_as(structure, ct)
            if leaves is None:
                raise errors.ArgumentError(f"a cotangent that the vjp of {self.external.name}() gives must be nested as its argument is")
            result += leaves
        return result

    # While a compiled function runs

    def answer(self, arrays):
        """The vector of what the function gives."""
        leaves = [_given(array, kind) for array, kind in zip(arrays, self.kinds)]
        args, kwargs = tree.unflatten(self.structure, leaves)
        leaves = tree.flatten_as(self.wanted.structure, self.results(self.external.fun(*args, **kwargs)))
        packed = np.zeros(self.size, self.dtype)
        for (first, last), spec, leaf in zip(self.places, self.wanted.specs, leaves):
            flat = np.asarray(leaf).reshape(-1)
            packed[first:last] = np.concatenate([flat >> 32, flat & 0xFFFFFFFF]) if self._in_halves(spec) else flat
        return packed

    def results(self, found):
        """What the function gave, held against what was announced."""
        leaves = tree.flatten_as(self.wanted.structure, found)
        if leaves is None:
            raise errors.ArgumentError(f"{self.external.name}() gives {_words(found)}, which is nested otherwise than `result` says")
        made = []
        for leaf, spec in zip(leaves, self.wanted.specs):
            array = np.asarray(leaf)
            if array.shape != spec.shape:
                raise errors.ShapeError(f"{self.external.name}() gives an array of shape {array.shape}, and `result` says {spec.shape}")
            if not np.can_cast(array.dtype, spec.dtype, "same_kind"):
                raise errors.DTypeError(f"{self.external.name}() gives {array.dtype}, and `result` says {spec.dtype}")
            made.append(array.astype(spec.dtype)[()])
        return tree.unflatten(self.wanted.structure, made)


def _given(array, kind):
    dtype, shape, scalar = kind
    array = array.astype(NUMPY[dtype], copy=False).reshape(shape)
    return array.item() if scalar == "python" else array[()] if scalar else array


def _words(found):
    return f"{type(found).__name__} of {len(found)}" if isinstance(found, (tuple, list, dict)) else f"a {type(found).__name__}"


class answering:
    """Around a run: what a function of the host raises in it comes out as itself."""

    def __enter__(self):
        self.before = getattr(_local, "raised", None)
        _local.raised = None

    def __exit__(self, kind, error, traceback):
        raised, _local.raised = _local.raised, self.before
        if raised is None:
            return
        if isinstance(raised, errors.Error) and raised.pos is None and getattr(error, "pos", None) is not None:
            raised = type(raised)(raised.message, error.pos)
        raise raised from None


def _answer(number, arrays):
    """Called by machine code, on the thread of the run; it raises nothing."""
    if getattr(_local, "raised", None) is not None:
        return np.ones(0)
    try:
        with tracing(None):
            return _sites[number].answer(arrays)
    except BaseException as error:
        _local.raised = error
        return np.ones(0)


_native.serve(_answer)
