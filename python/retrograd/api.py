"""`value_and_grad`, `grad` and `jit`: functions of NumPy arrays from plain NumPy functions."""

import functools
import inspect
import re
import types

import numpy as np

from . import _native, errors, tree
from .array import Array, describe, lift, traced
from .rewrite import rewrite
from .trace import DTYPES, Trace, current, refuse_dtype, tracing


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


class Strategy:
    """A memory strategy by name, with its options."""

    def __init__(self, name, **options):
        self.name, self.options = name, options

    def __repr__(self):
        return f"rg.{self.name}({', '.join(f'{key}={value}' for key, value in self.options.items())})"

def periodic(period=None):
    """A snapshot every `period` steps; √n without it."""
    return Strategy("periodic", **({} if period is None else {"period": int(period)}))


def revolve():
    """Binomial checkpoints (Revolve), as many as fit."""
    return Strategy("revolve")


def keep_all():
    """Every residual is kept."""
    return Strategy("keep_all")


def auto():
    """The fastest plan that fits: the default."""
    return Strategy("auto")


def value_and_grad(fun, argnums=0, budget=None, strategy=None, backend="cranelift"):
    """A function that returns the value of `fun` and its gradient with respect to the arguments `argnums`.

    `fun` is a plain NumPy function that returns one float. It gets copies of its arguments: what it changes in place is not seen by
    the caller. `budget` bounds the bytes that a run takes ("16 MB", or an int); it never changes a bit of the result.
    `backend` makes the machine code, with the same bits: "cranelift", which is part of Retrograd; "llvm", or "llvm:PATH" of a libLLVM,
    whose code is faster and takes longer to make; or "auto", which is llvm where a libLLVM is found.
    """
    return Transformed(fun, "value_and_gradient", argnums, budget, strategy, backend)


def grad(fun, argnums=0, budget=None, strategy=None, backend="cranelift"):
    """A function that returns the gradient of `fun` with respect to the arguments `argnums`."""
    return Transformed(fun, "gradient", argnums, budget, strategy, backend)


def jit(fun, budget=None, strategy=None, backend="cranelift"):
    """`fun` as machine code."""
    return Transformed(fun, "results", (), budget, strategy, backend)


class Transformed:
    """A function of NumPy arrays; compiled once per types of its arguments."""

    def __init__(self, fun, wanted, argnums, budget, strategy, backend):
        if not isinstance(fun, (types.FunctionType, types.MethodType)):
            hint = "; nesting rg.grad and rg.jit is not supported yet" if isinstance(fun, Transformed) else ""
            raise errors.ArgumentError(f"a Python function is needed, found {type(fun).__name__}{hint}")
        functools.update_wrapper(self, fun)
        self.fun, self.wanted, self.argnums, self.budget, self.backend = fun, wanted, argnums, budget, backend
        self.strategy = strategy if isinstance(strategy, Strategy) else Strategy("auto" if strategy is None else str(strategy))
        self.cache = {}

    def __call__(self, *args, **kwargs):
        if current() is not None:
            raise errors.Unsupported("a function made by rg.grad or rg.jit is called inside a traced function; that is not supported yet", errors.here())
        arguments = self._bind(args, kwargs)
        return self._compiled(arguments)._run(arguments.leaves)

    def plan(self, *args, **kwargs):
        """How a run will use memory, for arguments of these types (arrays or `rg.spec`); it prints."""
        return self.compile(*args, **kwargs).plan

    def compile(self, *args, **kwargs):
        """The compiled function for arguments of these types (arrays or `rg.spec`)."""
        return self._compiled(self._bind(args, kwargs))

    def _bind(self, args, kwargs):
        signature = inspect.signature(self.fun)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise errors.ArgumentError(f"{self.fun.__name__}(): {error}") from None
        return Arguments(signature, bound, self.fun.__name__)

    def _compiled(self, arguments):
        compiled = self.cache.get(arguments.key)
        if compiled is None:
            compiled = self.cache[arguments.key] = Compiled(self, arguments)
        return compiled


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


def check(value, name, function):
    """(array or spec, whether it is a scalar), or an error that names the argument."""
    where = f"argument `{name}` of {function}()"
    if isinstance(value, Spec):
        array, scalar = value, False
    elif isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (str, bytes)):
        array, scalar = np.asarray(value), True
    elif isinstance(value, np.ndarray):
        array, scalar = value, False
    elif isinstance(value, complex):
        raise errors.Unsupported(f"{where}: complex numbers are not supported")
    else:
        raise errors.ArgumentError(f"{where} must be a NumPy array or a number, found {type(value).__name__}")
    if array.dtype not in DTYPES:
        error = errors.Unsupported if array.dtype.kind == "c" else errors.DTypeError
        raise error(f"{where}: {refuse_dtype(array.dtype)}")
    return array, scalar


class Plan:
    """How a run uses memory; it prints. `bytes_peak` is exact."""

    def __init__(self, executable):
        self.bytes_peak = executable.bytes_peak
        self._text = executable.plan()

    def __str__(self):
        return self._text

    __repr__ = __str__


class Stats:
    """What the last run took."""

    def __init__(self, bytes_peak, seconds):
        self.bytes_peak, self.seconds = bytes_peak, seconds

    def __repr__(self):
        return f"Stats(bytes_peak={self.bytes_peak}, seconds={self.seconds})"


class Compiled:
    """Machine code for arguments of fixed types."""

    def __init__(self, transformed, arguments):
        self.name = transformed.fun.__name__
        self._transformed = transformed
        self.stats = None
        self._wrt = self._inputs(transformed, arguments)
        program, self._structure, self._scalars = trace_function(transformed.fun, arguments, transformed.wanted)
        leaves = [k for _, first, count in self._wrt for k in range(first, first + count)]
        self.program, strategy = program, transformed.strategy
        options = (strategy.name, list(strategy.options.items())), transformed.budget, transformed.backend
        self._executable = _native.compile(program, transformed.wanted, leaves, *options)
        self.plan = Plan(self._executable)

    @property
    def backend(self):
        """Who made the machine code: a name, a version and, of a library, its path."""
        return self._executable.backend

    def __call__(self, *args, **kwargs):
        arguments = self._transformed._bind(args, kwargs)
        if arguments.key not in self._transformed.cache or self._transformed.cache[arguments.key] is not self:
            found = ", ".join(f"{name}[{','.join(map(str, shape))}]" if shape else name for name, shape, _ in arguments.types)
            raise errors.ArgumentError(f"{self.name}() was compiled for arguments of other types, found {found}")
        return self._run(arguments.leaves)

    def _inputs(self, transformed, arguments):
        """Structure, first leaf and number of leaves of each argument to differentiate."""
        if transformed.wanted == "results":
            return []
        argnums = transformed.argnums if isinstance(transformed.argnums, (tuple, list)) else (transformed.argnums,)
        result = []
        for number in argnums:
            if not isinstance(number, int) or not -len(arguments.args) <= number < len(arguments.args):
                raise errors.ArgumentError(f"argnums={number!r}: {self.name}() was called with {len(arguments.args)} positional arguments")
            structure, first, count, name = arguments.parts[number]
            for leaf, _ in arguments.leaves[first : first + count]:
                if leaf.dtype.kind != "f":
                    raise errors.DTypeError(f"argument `{name}` of {self.name}() is {leaf.dtype}: only float64 has a gradient; pass it as a float, or leave it out of argnums")
            result.append((structure, first, count))
        return result

    def _run(self, leaves):
        for leaf, _ in leaves:
            if isinstance(leaf, Spec):
                raise errors.ArgumentError(f"{self.name}() was called with {leaf!r}; a run needs arrays")
        inputs = [_row_major(leaf) for leaf, _ in leaves]
        results, bytes_peak, seconds = self._executable.run(inputs)
        self.stats = Stats(bytes_peak, seconds)
        if self._transformed.wanted == "results":
            values = [value[()] if scalar else value for value, scalar in zip(results, self._scalars)]
            return tree.unflatten(self._structure, values)
        value = [results.pop(0)[()]] if self._transformed.wanted == "value_and_gradient" else []
        results = iter([result if result.ndim else np.asarray(result) for result in results])
        gradients = [tree.unflatten(structure, [next(results) for _ in range(count)]) for structure, _, count in self._wrt]
        gradient = tuple(gradients) if isinstance(self._transformed.argnums, (tuple, list)) else gradients[0]
        return (value[0], gradient) if value else gradient


def _row_major(array):
    """The array as machine code reads it; a copy only where it must be. Bools of odd bytes become 0 or 1."""
    if array.dtype.kind == "b":
        return np.asarray(np.logical_and(array, True))
    return np.require(array, requirements=["C", "A"])


def trace_function(fun, arguments, wanted):
    """(Program, structure of the result, which of its leaves are scalars)."""
    method = fun.__self__ if isinstance(fun, types.MethodType) else None
    function = rewrite(fun.__func__ if method is not None else fun)
    trace = Trace(_native.Tracer(fun.__name__), fun.__name__)
    with tracing(trace):
        boxes = [traced(trace.tracer.input(dtype, list(shape)), scalar=scalar) for dtype, shape, scalar in arguments.types]
        args, kwargs = arguments.rebuild(boxes)
        result = _run_traced(trace, function, args if method is None else [method, *args], kwargs)
        if len(trace.frames) > 1:
            raise errors.Unsupported("an error inside a loop was caught by the function; tracing cannot go on after it", trace.frame.pos)
        leaves, structure = tree.flatten(result)
        handles = [_result(leaf, fun, wanted, structure) for leaf in leaves]
        scalars = [not isinstance(leaf, (Array, np.ndarray)) or isinstance(leaf, Array) and leaf._scalar for leaf in leaves]
        return trace.tracer.finish(handles), structure, scalars


def _run_traced(trace, function, args, kwargs):
    try:
        return function(*args, **kwargs)
    except UnboundLocalError as error:
        name = re.search(r"'(\w+)'", str(error))
        if name is None or name[1] not in trace.unbound:
            raise
        frame = error.__traceback__
        while frame.tb_next is not None:
            frame = frame.tb_next
        raise errors.Unsupported(trace.unbound[name[1]], (frame.tb_frame.f_code.co_filename, frame.tb_lineno)) from None


def _result(leaf, fun, wanted, structure):
    pos = (fun.__code__.co_filename, fun.__code__.co_firstlineno)
    if leaf is None or isinstance(leaf, (str, bytes)) or not isinstance(leaf, (Array, np.ndarray, np.generic, int, float)):
        raise errors.ArgumentError(f"{fun.__name__}() must return arrays and numbers, found {type(leaf).__name__}", pos)
    handle = lift(leaf, "the result")
    if wanted != "results":
        dtype, shape = current().type(handle)
        if structure is not None or shape or dtype != "f64":
            found = "several values" if structure is not None else describe(leaf) if isinstance(leaf, Array) else type(leaf).__name__
            raise errors.ShapeError(f"a gradient needs a function that returns one float; {fun.__name__}() returns {found}; reduce it with np.sum", pos)
    return handle
