"""`grad` and its relatives: functions of NumPy arrays from plain NumPy functions, with the signatures of JAX."""

import contextlib
import copy
import functools
import inspect
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import errors, steps, tree
from .arguments import Signature, Spec
from .array import lift, traced
from .compiled import Compiled, Variants, forget
from .custom import custom_jvp, custom_vjp
from .external import answering
from .options import Options, Strategy, integer, takes_options
from .narrow import Narrow
from .outcome import WITHOUT_AUX, Outcome, readable, unboxed
from .trace import NUMPY, current

Function = Callable[..., Any]


def periodic(period: int | None = None) -> Strategy:
    """A snapshot every `period` steps; √n without it."""
    return Strategy("periodic", **({} if period is None else {"period": integer("period", period, 1, 2**63 - 1, "a positive int of steps")}))


def revolve() -> Strategy:
    """Binomial checkpoints (Revolve), as many as fit."""
    return Strategy("revolve")


def keep_all() -> Strategy:
    """Every residual is kept."""
    return Strategy("keep_all")


def recompute_all() -> Strategy:
    """Nothing is kept: every state is computed again from the start of its loop."""
    return Strategy("recompute_all")


def ilp() -> Strategy:
    """No step runs twice: what is kept of it is the solution of an integer program."""
    return Strategy("ilp")


def user(values: Mapping[str, str] | None = None, loops: Mapping[str, str] | None = None) -> Strategy:
    """Your own fates; what is not named is decided as by `auto`, with loops in the order in which they are written: `rg.user()` is `auto` without tiles.

    `values` says "keep" or "recompute" by name: a line ("model.py:12"), an op ("sin") or both ("sin at model.py:12"), as a plan prints them.
    `loops` says by line how a loop is reversed: "keep_all", "recompute_all", "periodic 10" (steps) or "revolve 5" (slots). A name that is
    not there is an error.
    """
    for name, fates in (("values", values), ("loops", loops)):
        if fates is not None and not isinstance(fates, dict):
            raise errors.ArgumentError(f"`{name}` is a dict of fates by name, found {fates!r}")
    return Strategy("user", values=dict(values or {}), loops=dict(loops or {}))


def auto() -> Strategy:
    """The fastest plan that fits: the default."""
    return Strategy("auto")


@takes_options
def value_and_grad(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any) -> "Transformed":
    """A function that returns the value of `fun` and its gradient with respect to the arguments `argnums`.

    `fun` is a plain NumPy function that returns one float (with `has_aux`, a pair of it and anything else, which is handed back). It gets
    copies of its arguments: what it changes in place is not seen by the caller.

        >>> value, gradient = rg.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
        >>> float(value), gradient
        (5.0, array([2., 4.]))
    """
    return Transformed(fun, "value_and_gradient", argnums, has_aux, options)


@takes_options
def grad(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any) -> "Transformed":
    """A function that returns the gradient of `fun` with respect to the arguments `argnums`; with `has_aux`, a pair of it and the rest.

        >>> rg.grad(lambda p: p["a"] * p["b"])({"a": 3.0, "b": 2.0})
        {'a': array(2.), 'b': array(3.)}
    """
    return Transformed(fun, "gradient", argnums, has_aux, options)


@takes_options
def jacfwd(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any) -> "Transformed":
    """A function that returns the Jacobian of `fun`, in forward mode: the axes of the result, then those of the argument.

        >>> rg.jacfwd(lambda x: x**2)(np.array([1.0, 3.0]))
        array([[2., 0.],
               [0., 6.]])
    """
    return Transformed(fun, "jacfwd", argnums, has_aux, options)


@takes_options
def jacrev(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any) -> "Transformed":
    """A function that returns the Jacobian of `fun`, in reverse mode."""
    return Transformed(fun, "jacrev", argnums, has_aux, options)


@takes_options
def jacobian(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any) -> "Transformed":
    """A function that returns the Jacobian of `fun`, in the mode that takes fewer seeds."""
    return Transformed(fun, "jacobian", argnums, has_aux, options)


@takes_options
def hessian(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any) -> "Transformed":
    """A function that returns the Hessian of `fun`, which returns one float, by forward over reverse.

        >>> rg.hessian(lambda x: x[0] * x[1])(np.array([1.0, 3.0]))
        array([[0., 1.],
               [1., 0.]])
    """
    return Transformed(fun, "hessian", argnums, has_aux, options)


@takes_options
def jit(fun: Function, **options: Any) -> "Transformed":
    """`fun` as machine code. What it changes of its arguments (arrays that it writes into, items and attributes that it sets), the caller sees.

        >>> rg.jit(lambda x: x + 1.0)(np.zeros(2))
        array([1., 1.])
    """
    return _made(fun, "results", (), False, options, False, None)


@takes_options
def jvp(fun: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False, **options: Any) -> tuple[Any, ...]:
    """`fun(*primals)` and its tangent along `tangents`; with `has_aux`, also what `fun` returns besides.

        >>> y, dy = rg.jvp(lambda x: x**2, (3.0,), (1.0,))
        >>> float(y), float(dy)
        (9.0, 6.0)
    """
    transformed = Transformed(fun, "jvp", None, has_aux, options)
    return transformed._call(tuple(primals), {}, lambda outcome, types: outcome.tangents(tuple(tangents), types))


@takes_options
def vjp(fun: Function, *primals: Any, has_aux: bool = False, **options: Any) -> tuple[Any, ...]:
    """`fun(*primals)` and a function from a cotangent of it to the cotangents of the primals; with `has_aux`, also what `fun` returns besides.

    Arguments that are no floats have the cotangent None. The function runs `fun` again.

        >>> y, pullback = rg.vjp(lambda x: x**2, 3.0)
        >>> float(pullback(1.0)[0])
        6.0
    """
    value = Transformed(fun, "results", (), has_aux, options)(*primals)
    transformed = Transformed(fun, "vjp", None, has_aux, options)

    def pullback(ct):
        return transformed._call(primals, {}, lambda outcome, types: outcome.cotangents(ct))

    return (value[0], pullback, value[1]) if has_aux else (value, pullback)


@takes_options
def hvp(fun: Function, primals: Sequence[Any], tangents: Sequence[Any], argnums: int | Sequence[int] = 0, **options: Any) -> Any:
    """The Hessian of `fun(*primals)`, one float, times `tangents`, by forward over reverse: the tangent of `rg.grad(fun, argnums)` along them.

    There is a tangent per primal, as for `rg.jvp`; None is zero.

        >>> rg.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))
        array([ 6., 12.])
    """
    primals = tuple(primals)
    if not isinstance(tangents, (tuple, list)) or len(tangents) != len(primals):
        raise errors.ArgumentError(f"hvp takes a tangent per primal, as jvp does (None is zero): {len(primals)} are needed, found {_count(tangents)}")
    wanted = [number % len(primals) if primals else number for number in (argnums if isinstance(argnums, (tuple, list)) else (argnums,))]
    along = sorted({*wanted, *(k for k, tangent in enumerate(tangents) if tangent is not None)})
    directions = tuple(tangents[k] if tangents[k] is not None else tree.tree_map(lambda leaf: np.zeros(np.shape(leaf)), primals[k]) for k in along)
    transformed = Transformed(fun, "hvp", tuple(along), False, options)
    rows = transformed._call(primals, {}, lambda outcome, types: outcome.tangents(directions, types))
    chosen = tuple(rows[along.index(number)] for number in wanted)
    return chosen if isinstance(argnums, (tuple, list)) else chosen[0]


def _count(tangents):
    return len(tangents) if isinstance(tangents, (tuple, list)) else f"a {type(tangents).__name__}"


@takes_options
def linearize(fun: Function, *primals: Any, has_aux: bool = False, **options: Any) -> tuple[Any, ...]:
    """`fun(*primals)` and the function from tangents to the tangent of the result there; with `has_aux`, also what `fun` returns besides.

    The function runs `fun` again.

        >>> y, push = rg.linearize(np.sin, 0.0)
        >>> float(y), float(push(2.0))
        (0.0, 2.0)
    """
    value = Transformed(fun, "results", (), has_aux, options)(*primals)
    transformed = Transformed(fun, "jvp", None, False if not has_aux else True, options)

    def pushforward(*tangents):
        return transformed._call(primals, {}, lambda outcome, types: outcome.tangents(tangents, types))[1]

    return (value[0], pushforward, value[1]) if has_aux else (value, pushforward)


@takes_options
def linear_transpose(fun: Function, *primals: Any, **options: Any) -> Function:
    """The transpose of a function that is linear in its arguments, of which only the types count: from a cotangent of its result to those of its arguments.

    A function whose derivative depends on where it is taken is not linear, and an error.

        >>> transpose = rg.linear_transpose(lambda x: 2.0 * x[:2], rg.spec(3))
        >>> transpose(np.array([1.0, 5.0]))[0]
        array([ 2., 10.,  0.])
    """
    zeros = tuple(tree.tree_map(lambda leaf: np.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, Spec) else np.zeros_like(np.asarray(leaf)), primal) for primal in primals)
    transformed = Transformed(fun, "jvp", None, False, options)
    arguments = transformed.signature().bind(zeros, {})
    if not _is_linear(transformed, arguments):
        raise errors.ArgumentError(f"{transformed.name}() is not linear: its derivative depends on its arguments, or it does not take zeros to zeros")
    pulled = vjp(fun, *zeros, **options)[1]
    return pulled


def _is_linear(transformed, arguments):
    """Whether the tangent at zeros is the function itself, for every element of the arguments at a size that no rounding hides, and zero at zero."""
    function = jit(transformed.fun)
    generator = np.random.default_rng(20)
    draw = lambda leaf: generator.normal(size=np.shape(leaf)) if np.asarray(leaf).dtype.kind == "f" else leaf
    zeros, points = arguments.args, [tuple(tree.tree_map(draw, arg) for arg in arguments.args) for _ in range(3)]
    flat = lambda value: [np.asarray(leaf, float) for leaf in tree.tree_leaves(value)]
    if any(np.any(leaf) for leaf in flat(function(*zeros))):
        return False
    for point, scale in zip([point for point in points for _ in range(2)], (1.0, -1.0, 1e-6, -1e-6, 1e6, -1e6)):
        point = tuple(tree.tree_map(lambda leaf: leaf * scale if np.asarray(leaf).dtype.kind == "f" else leaf, arg) for arg in point)
        tangent = transformed._call(zeros, {}, lambda outcome, types: outcome.tangents(point, types))[1]
        if not all(np.allclose(a, b, rtol=1e-5, atol=1e-5 * abs(scale)) for a, b in zip(flat(function(*point)), flat(tangent))):
            return False
    return True


def vmap(fun: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
    """`fun` over an axis of its arguments, as in JAX: a loop whose steps do not depend on each other, shared by threads.

    `in_axes` says which axis of each argument, an int or None for an argument that is the same in every step; a tuple has one per argument, nested as that is
    or one for all of it. `out_axes` says where the axis is in the result.

        >>> rg.vmap(lambda row, v: row @ v, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
        array([3., 4.])
    """

    def mapped(*args, **kwargs):
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise errors.ArgumentError(f"vmap: {len(axes)} in_axes for {len(args)} arguments", errors.here())
        leaves, structure = tree.flatten((tuple(args), kwargs), objects=True)
        places = [*_prefixed(tuple(axes), structure[1][0], "in_axes"), *_prefixed(0, structure[1][1], "in_axes")]
        names = tree.paths((tuple(args), kwargs), "", objects=True)
        chosen = [(leaf, axis, _argument(name)) for leaf, axis, name in zip(leaves, places, names) if axis is not None]
        rows = [np.moveaxis(leaf, _axis(leaf, axis, name), 0) for leaf, axis, name in chosen]
        if not rows:
            raise errors.ArgumentError("vmap needs an argument with an axis to go along", errors.here())
        extents = [row.shape[0] for row in rows]
        if len(set(extents)) > 1:
            found = ", ".join(f"{extent} along axis {axis} of {name}" for extent, (_, axis, name) in zip(extents, chosen))
            raise errors.ShapeError(f"vmap goes along axes of equal length; found {found}", errors.here())

        read = fun if current() is None else readable(fun)

        def step(row):
            given = iter(row)
            args, kwargs = tree.unflatten(structure, [leaf if axis is None else next(given) for leaf, axis in zip(leaves, places)])
            return read(*args, **kwargs)

        found, nested = tree.flatten(steps.map(step, rows), objects=True)
        ends = _prefixed(out_axes, nested, "out_axes")
        if None in ends:
            raise errors.ArgumentError("vmap: a result has an axis for the steps, so out_axes is an int; take what does not depend on them out of the function", errors.here())
        return tree.unflatten(nested, [np.moveaxis(leaf, 0, axis) for leaf, axis in zip(found, ends)])

    whole = jit(mapped)

    @functools.wraps(fun)
    def vmapped(*args, **kwargs):
        return mapped(*args, **kwargs) if current() is not None else whole(*args, **kwargs)

    return vmapped


def _argument(path):
    """A leaf of `(args, kwargs)` in words: `[0][1]['w']` is `['w']` of argument 1."""
    number, _, rest = path.removeprefix("[0][").removeprefix("[1][").partition("]")
    return f"argument {number}{rest}"


def _axis(leaf, axis, name):
    """The axis, held against the shape of what it belongs to."""
    if not isinstance(axis, int) or not -np.ndim(leaf) <= axis < np.ndim(leaf):
        raise errors.ArgumentError(f"vmap along axis {axis!r} of {name}, which has shape {tuple(np.shape(leaf))}; in_axes=None is for what is the same in every step", errors.here())
    return axis


def _prefixed(axes, structure, name):
    """An axis per leaf, from axes that are nested as the leaves are, or less."""
    if axes is None or isinstance(axes, int):
        return [axes] * tree.TreeDef(structure).num_leaves
    kind, parts = structure if structure is not None else (None, ())
    items = list(axes.values()) if isinstance(axes, dict) else list(axes)
    if len(items) != len(parts):
        raise errors.ArgumentError(f"vmap: {name}={axes!r} is nested otherwise than the values are", errors.here())
    return [axis for item, part in zip(items, parts) for axis in _prefixed(item, part, name)]


def eval_shape(fun: Function, *args: Any, **kwargs: Any) -> Any:
    """The shapes and element types of what `fun` returns for arguments of these types (arrays or `rg.spec`), as `rg.spec`; nothing runs.

        >>> rg.eval_shape(lambda a, b: (a @ b, np.sum(a)), rg.spec((2, 3)), rg.spec(3))
        (rg.spec((2,), float64), rg.spec((), float64))
    """
    transformed = jit(fun)
    outcome = transformed._outcome(transformed.signature().bind(args, kwargs))
    return tree.unflatten(outcome.structure, [Spec(shape, NUMPY[dtype]) for dtype, shape in outcome.types])


class fate:
    """A function whose values a gradient keeps, or computes again where it reads them, whatever the plan would be: `"keep"` or `"recompute"`.

    As `jax.checkpoint`, it changes memory and time and no bit. It is meant for values of the lines of the function itself; strategies besides `rg.auto()` and
    `rg.user(…)` decide by themselves.

        block = rg.fate(block, "recompute")
    """

    def __init__(self, fun: Function, fate: str) -> None:
        if fate not in ("keep", "recompute"):
            raise errors.ArgumentError(f'a fate is "keep" or "recompute", found {fate!r}')
        functools.update_wrapper(self, fun)
        self.fun, self.fate = fun, fate

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace = current()
        if trace is None:
            return self.fun(*args, **kwargs)
        while trace.around is not None:
            trace = trace.around
        code = inspect.unwrap(getattr(self.fun, "__func__", self.fun)).__code__
        lines = [line for _, _, line in code.co_lines() if line is not None]
        trace.fates.append((code.co_filename, min(lines), max(lines), self.fate))
        return readable(self.fun)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"rg.fate({self.fun!r}, {self.fate!r})"


_plain = threading.local()


@contextlib.contextmanager
def disable_jit() -> Iterator[None]:
    """Inside, functions run as plain Python on NumPy arrays, so that `print` and a debugger see numbers: `rg.jit(f)` is f, and what differentiates f runs it
    plainly first, which shows where f itself fails.

        >>> with rg.disable_jit():
        ...     float(rg.jit(lambda x: x * 2.0)(3.0))
        6.0
    """
    before = getattr(_plain, "on", False)
    _plain.on = True
    try:
        yield
    finally:
        _plain.on = before


def debug_nan(fun: Function) -> "Transformed":
    """`fun` (plain, or made by `rg.grad` and its relatives), looking for NaNs.

    A call is interpreted, slowly, and raises `rg.NotFinite` at the first operation, forward or backward, that makes an infinity out of
    finite numbers or a NaN out of numbers. Infinities that the function or its caller writes down are let through. Where nothing is
    wrong, the result is that of `fun`.

        rg.debug_nan(rg.grad(loss))(x)
    """
    transformed = copy.copy(fun if isinstance(fun, Transformed) else jit(fun))
    transformed.debug = True
    return transformed


def observe(fun: Function, look: Callable[[str, tuple[int, ...], np.ndarray], Any] | None = None) -> "Transformed":
    """`fun` (plain, or made by `rg.grad` and its relatives), with `look(name, steps, array)` called for what `rg.probe` and
    `rg.probe_cotangent` see, in the order in which it happens; without `look` it is printed.

    `steps` are the indices of the loops around the probe, the outermost first; the array is a copy.
    """
    transformed = copy.copy(fun if isinstance(fun, Transformed) else jit(fun))
    transformed.look, transformed.cache = _print if look is None else look, {}
    return transformed


def _print(name, steps, array):
    print(f"{name}{list(steps) if steps else ''}: {array}")


def check_grads(fun: Function, args: Sequence[Any], order: int, modes: str | Sequence[str] = ("fwd", "rev")) -> None:
    """Holds the derivatives of `fun` at `args` up to an order against finite differences and each other; raises AssertionError.

        >>> rg.check_grads(lambda x: np.sum(np.sin(x)), (np.ones(3),), order=2)
    """
    transformed = jit(fun)
    arguments = transformed.signature().bind(tuple(args), {})
    outcome = Outcome(fun, arguments, "results", False, [])
    modes = [modes] if isinstance(modes, str) else list(modes)
    try:
        with answering():
            outcome.program.check_grads([*arguments.arrays(), *outcome.outside.values()], order, modes)
    except errors.ArgumentError as error:
        raise AssertionError(str(error)) from None


class Transformed:
    """A function of NumPy arrays; compiled once per types of its arguments. Inside a traced function it becomes part of the trace.

    Threads may share it: each call has memory of its own, and what two threads compile at the same time for the same types, one of them drops.
    """

    debug = False
    look = None
    writes = False  # whether the caller sees what the function changes of its arguments
    # What ran last: most calls are like the one before.
    _last = None

    def __init__(self, fun, wanted, argnums, has_aux, options):
        if not callable(fun):
            raise errors.ArgumentError(f"a Python function is needed, found {type(fun).__name__}")
        functools.update_wrapper(self, fun, updated=())
        self.fun, self.wanted, self.argnums, self.has_aux = fun, wanted, argnums, has_aux
        self.options, self._given, self._signature = Options(options), options, None
        self.cache = _cache_of(fun, (wanted, argnums if not isinstance(argnums, list) else tuple(argnums), has_aux, repr(sorted(options.items(), key=str))))

    @property
    def name(self):
        return getattr(self.fun, "__name__", type(self.fun).__name__)

    def __repr__(self):
        shown = {} if self.argnums is None or self.wanted == "results" else {"argnums": self.argnums}
        shown.update({"has_aux": True} if self.has_aux else {}, **self._given)
        given = "".join(f", {key}={value!r}" for key, value in shown.items())
        made = {"results": "jit", "gradient": "grad", "value_and_gradient": "value_and_grad"}.get(self.wanted, self.wanted)
        return f"rg.{made}({self.name}{given})"

    def __reduce__(self):
        """By its name where it stands under the name of its function, as a decorated one does; else made again of its function. Compilations stay here."""
        found = sys.modules.get(getattr(self, "__module__", None))
        for part in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, part, None)
        if found is self:
            return self.__qualname__
        return _made, (self.fun, self.wanted, self.argnums, self.has_aux, self._given, self.debug, self.look)

    def __deepcopy__(self, memo):
        return copy.copy(self)

    def __copy__(self):
        return _made(self.fun, self.wanted, self.argnums, self.has_aux, self._given, self.debug, self.look)

    def __get__(self, owner, kind=None):
        """As a method: the object is its first argument."""
        return self if owner is None else types.MethodType(self, owner)

    def single(self):
        return isinstance(self.argnums, int)

    def __call__(self, *args, **kwargs):
        # As `_call`, with one frame less in tracebacks.
        try:
            return self._called(args, kwargs, _no_seeds)
        except Exception as error:
            if current() is not None:
                raise
            trimmed = errors.trimmed(error)
        raise trimmed

    def _call(self, args, kwargs, seeds):
        """`seeds` gives cotangents or tangents, from the outcome of the trace and the types of the arguments."""
        try:
            return self._called(args, kwargs, seeds)
        except Exception as error:
            if current() is not None:
                raise
            trimmed = errors.trimmed(error)
        raise trimmed

    def plan(self, *args, **kwargs):
        """How a run will use memory, for arguments of these types (arrays or `rg.spec`); it prints."""
        return self.compile(*args, **kwargs).plan

    def compile(self, *args, **kwargs):
        """The compiled function for arguments of these types (arrays or `rg.spec`).

        Its `hidden` names what the function reads from outside as data: further inputs, which it reads at each call, and which can be given by their names. With `freeze=True` they stay as they
        are now.
        """
        freeze = "freeze" not in self.signature().names and kwargs.pop("freeze", False)
        try:
            compiled = self._compiled(self.signature().bind(args, kwargs))
            return compiled.frozen() if freeze else compiled
        except Exception as error:
            trimmed = errors.trimmed(error)
        raise trimmed

    def _called(self, args, kwargs, seeds):
        if getattr(_plain, "on", False) and current() is None:
            if self.wanted == "results" and self.writes:
                return self.fun(*args, **kwargs)
            result = self.fun(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            if self.wanted == "results":
                return result
        if self._last is not None and seeds is _no_seeds and not kwargs and current() is None:
            ran = self._last.run_directly(args)
            if ran is not None:
                return ran[0]
        arguments = self.signature().bind(args, kwargs)
        if current() is not None:
            result = self._inline(arguments, seeds)
        elif self.debug:
            outcome = self._outcome(arguments)
            inputs = [*arguments.arrays(), *outcome.outside.values(), *seeds(outcome, arguments.types)]
            with answering():
                results = outcome.derive().debug_nan(inputs)
            result = outcome.assemble(results, self.single(), unboxed)
        else:
            compiled = self._last = self._compiled(arguments)
            result = compiled._run(arguments, seeds(compiled.outcome, arguments.types), self.writes)
        return (result, self._aux(args, kwargs)) if self.wants_aux() else result

    def _inline(self, arguments, seeds):
        """The derivative as part of the trace that is under way."""
        if self.debug:
            raise errors.Unsupported("rg.debug_nan inside a traced function; put it around the outermost function", errors.here())
        if self.look is not None:
            raise errors.Unsupported("rg.observe inside a traced function; put it around the outermost function", errors.here())
        outcome, trace = self._outcome(arguments), current()
        values = [*(leaf for leaf, _ in arguments.leaves), *outcome.taken, *seeds(outcome, arguments.types)]
        handles = [lift(value, "an argument") for value in values]
        if self.options.exact:
            outcome.program = outcome.program.exact()
        results = trace.tracer.call_program(outcome.derive(), handles, errors.here())
        if outcome.writes:
            results, more = results[: len(outcome.types)], results[len(outcome.types) :]
            if self.writes:
                outcome.writes.apply(arguments, [traced(result) for result in more])
        return outcome.assemble(results, self.single(), _boxed)

    def _outcome(self, arguments, varying=()):
        wrt = [] if self.wanted == "results" else arguments.floats() if self.argnums is None else arguments.chosen(self.argnums)
        outcome = Outcome(self.fun, arguments, self.wanted, self.has_aux, wrt, varying)
        if self.options.fast_math:
            outcome.program = outcome.program.fast_math()
        return outcome

    def wants_aux(self):
        """Whether what the function returns besides is not among the results of the Program."""
        return self.has_aux and self.wanted in WITHOUT_AUX

    def _aux(self, args, kwargs):
        """What a Jacobian does not hand back, the function itself does."""
        return Transformed(self.fun, "results", (), True, self._given)(*args, **kwargs)[1]

    def signature(self):
        if self._signature is None:
            self._signature = Signature.of(self.fun, self.name, self.options.static_numbers, self.options.static_names)
        return self._signature

    def _compiled(self, arguments):
        variants = self.cache.get(arguments.key)
        if variants is None:
            variants = self.cache[arguments.key] = Variants(self.name)
            forget(self.cache, arguments)
        return variants.find(arguments) or variants.add(Compiled.of(self, arguments, variants.varying))


_caches = weakref.WeakKeyDictionary()


def _cache_of(fun, key):
    """The compilations of a function: those of another `rg.grad` of it, with the same options, are the same."""
    if not isinstance(fun, types.FunctionType):
        return {}
    return _caches.setdefault(fun, {}).setdefault(key, {})


def _made(fun, wanted, argnums, has_aux, options, debug, look):
    transformed = Transformed(fun, wanted, argnums, has_aux, options)
    transformed.debug, transformed.look, transformed.writes = debug, look, wanted == "results"
    if look is not None:
        transformed.cache = {}
    return transformed


def _no_seeds(outcome, types):
    return []


def _boxed(result, scalar):
    if not isinstance(result, int):
        return result
    if type(scalar) is str:
        dtype, _, number = scalar.partition(" ")
        return Narrow(traced(result, scalar=bool(number)), dtype)
    return np.reshape(traced(result), scalar) if type(scalar) is tuple else traced(result, scalar=scalar)
