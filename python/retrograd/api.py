"""`grad` and its relatives: functions of NumPy arrays from plain NumPy functions, with the signatures of JAX."""

import copy
import functools
import inspect
import os
import types

import numpy as np

from . import _native, errors
from .arguments import Arguments
from .array import lift, traced
from .custom import custom_jvp, custom_vjp
from .outcome import WITHOUT_AUX, Outcome
from .trace import current


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


def recompute_all():
    """Nothing is kept: every state is computed again from the start of its loop."""
    return Strategy("recompute_all")


def ilp():
    """No step runs twice: what is kept of it is the solution of an integer program."""
    return Strategy("ilp")


def user(values=None, loops=None):
    """Your own fates; what is not named is decided as by `auto`.

    `values` says "keep" or "recompute" by name: a line ("model.py:12"), an op ("sin") or both ("sin at model.py:12"), as a plan prints them.
    `loops` says by line how a loop is reversed: "keep_all", "recompute_all", "periodic 10" (steps) or "revolve 5" (slots). A name that is
    not there is an error.
    """
    return Strategy("user", values=dict(values or {}), loops=dict(loops or {}))


def auto():
    """The fastest plan that fits: the default."""
    return Strategy("auto")


def value_and_grad(fun, argnums=0, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """A function that returns the value of `fun` and its gradient with respect to the arguments `argnums`.

    `fun` is a plain NumPy function that returns one float (with `has_aux`, a pair of it and anything else, which is handed back). It gets
    copies of its arguments: what it changes in place is not seen by the caller. `budget` bounds the bytes that a run takes ("16 MB", or
    an int); it never changes a bit of the result.
    `spill` is a directory for states of loops that the budget has no room for, with `spill_budget` bytes ("10 GB") for one run: what is
    faster to read again than to compute goes there, and nothing is left there after a run.
    `backend` makes the machine code, with the same bits: "cranelift", which is part of Retrograd; "llvm", or "llvm:PATH" of a libLLVM,
    whose code is faster and takes longer to make; or "auto", which is llvm where a libLLVM is found. `threads` is how many work on large
    arrays, as many as there are cores unless told; results do not depend on it.
    """
    return Transformed(fun, "value_and_gradient", argnums, has_aux, budget, strategy, backend, spill, spill_budget, threads)


def grad(fun, argnums=0, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """A function that returns the gradient of `fun` with respect to the arguments `argnums`; with `has_aux`, a pair of it and the rest."""
    return Transformed(fun, "gradient", argnums, has_aux, budget, strategy, backend, spill, spill_budget, threads)


def jacfwd(fun, argnums=0, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """A function that returns the Jacobian of `fun`, in forward mode: the axes of the result, then those of the argument."""
    return Transformed(fun, "jacfwd", argnums, has_aux, budget, strategy, backend, spill, spill_budget, threads)


def jacrev(fun, argnums=0, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """A function that returns the Jacobian of `fun`, in reverse mode."""
    return Transformed(fun, "jacrev", argnums, has_aux, budget, strategy, backend, spill, spill_budget, threads)


def jacobian(fun, argnums=0, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """A function that returns the Jacobian of `fun`, in the mode that takes fewer seeds."""
    return Transformed(fun, "jacobian", argnums, has_aux, budget, strategy, backend, spill, spill_budget, threads)


def hessian(fun, argnums=0, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """A function that returns the Hessian of `fun`, which returns one float, by forward over reverse."""
    return Transformed(fun, "hessian", argnums, has_aux, budget, strategy, backend, spill, spill_budget, threads)


def jit(fun, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """`fun` as machine code."""
    return Transformed(fun, "results", (), False, budget, strategy, backend, spill, spill_budget, threads)


def jvp(fun, primals, tangents, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """`fun(*primals)` and its tangent along `tangents`; with `has_aux`, also what `fun` returns besides."""
    transformed = Transformed(fun, "jvp", None, has_aux, budget, strategy, backend, spill, spill_budget, threads)
    return transformed._call(tuple(primals), {}, lambda outcome, types: outcome.tangents(tuple(tangents), types))


def vjp(fun, *primals, has_aux=False, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """`fun(*primals)` and a function from a cotangent of it to the cotangents of the primals; with `has_aux`, also what `fun` returns besides.

    Arguments that are no floats have the cotangent None. The function runs `fun` again.
    """
    value = Transformed(fun, "results", (), has_aux, budget, strategy, backend, spill, spill_budget, threads)(*primals)
    transformed = Transformed(fun, "vjp", None, has_aux, budget, strategy, backend, spill, spill_budget, threads)

    def pullback(ct):
        return transformed._call(primals, {}, lambda outcome, types: outcome.cotangents(ct))

    return (value[0], pullback, value[1]) if has_aux else (value, pullback)


def hvp(fun, primals, tangents, argnums=0, budget=None, strategy=None, backend="cranelift", spill=None, spill_budget=None, threads=None):
    """The Hessian of `fun(*primals)`, one float, times `tangents` (one per argument of `argnums`), by forward over reverse."""
    transformed = Transformed(fun, "hvp", argnums, False, budget, strategy, backend, spill, spill_budget, threads)
    directions = (tangents,) if transformed.single() else tuple(tangents)
    return transformed._call(tuple(primals), {}, lambda outcome, types: outcome.tangents(directions, types))


def debug_nan(fun):
    """`fun` (plain, or made by `rg.grad` and its relatives), looking for NaNs.

    A call is interpreted, slowly, and raises `rg.NotFinite` at the first operation, forward or backward, that makes an infinity out of
    finite numbers or a NaN out of numbers. Infinities that the function or its caller writes down are let through. Where nothing is
    wrong, the result is that of `fun`.

        rg.debug_nan(rg.grad(loss))(x)
    """
    transformed = copy.copy(fun if isinstance(fun, Transformed) else jit(fun))
    transformed.debug = True
    return transformed


def observe(fun, look=None):
    """`fun` (plain, or made by `rg.grad` and its relatives), with `look(name, steps, array)` called for what `rg.probe` and
    `rg.probe_cotangent` see, in the order in which it happens; without `look` it is printed.

    `steps` are the indices of the loops around the probe, the outermost first; the array is a copy.
    """
    transformed = copy.copy(fun if isinstance(fun, Transformed) else jit(fun))
    transformed.look = _print if look is None else look
    return transformed


def _print(name, steps, array):
    print(f"{name}{list(steps) if steps else ''}: {array}")


def check_grads(fun, args, order, modes=("fwd", "rev")):
    """Holds the derivatives of `fun` at `args` up to an order against finite differences and each other; raises AssertionError."""
    transformed = jit(fun)
    arguments = transformed._bind(tuple(args), {})
    outcome = Outcome(fun, arguments, "results", False, [])
    modes = [modes] if isinstance(modes, str) else list(modes)
    try:
        outcome.program.check_grads(arguments.arrays(transformed.__name__), order, modes)
    except errors.ArgumentError as error:
        raise AssertionError(str(error)) from None


class Transformed:
    """A function of NumPy arrays; compiled once per types of its arguments. Inside a traced function it becomes part of the trace."""

    debug = False
    look = None

    def __init__(self, fun, wanted, argnums, has_aux, budget, strategy, backend, spill, spill_budget, threads):
        if not isinstance(fun, (types.FunctionType, types.MethodType, functools.partial, Transformed, custom_jvp, custom_vjp)):
            raise errors.ArgumentError(f"a Python function is needed, found {type(fun).__name__}")
        functools.update_wrapper(self, fun, updated=())
        if (spill is None) != (spill_budget is None):
            raise errors.ArgumentError('`spill` is a directory and `spill_budget` the bytes for a run there ("10 GB"): both or neither')
        self.fun, self.wanted, self.argnums, self.has_aux, self.budget, self.backend = fun, wanted, argnums, has_aux, budget, backend
        self.spill, self.spill_budget = spill, spill_budget
        self.strategy = strategy if isinstance(strategy, Strategy) else Strategy("auto" if strategy is None else str(strategy))
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise errors.ArgumentError(f"`threads` is a positive int, or None for as many as there are cores, found {threads!r}")
        self.threads = threads
        self.cache = {}

    @property
    def name(self):
        return getattr(self.fun, "__name__", type(self.fun).__name__)

    def single(self):
        return isinstance(self.argnums, int)

    def __call__(self, *args, **kwargs):
        return self._call(args, kwargs, lambda outcome, types: [])

    def plan(self, *args, **kwargs):
        """How a run will use memory, for arguments of these types (arrays or `rg.spec`); it prints."""
        return self.compile(*args, **kwargs).plan

    def compile(self, *args, **kwargs):
        """The compiled function for arguments of these types (arrays or `rg.spec`)."""
        return self._compiled(self._bind(args, kwargs))

    def _call(self, args, kwargs, seeds):
        """`seeds` gives cotangents or tangents, from the outcome of the trace and the types of the arguments."""
        arguments = self._bind(args, kwargs)
        if current() is not None:
            result = self._inline(arguments, seeds)
        elif self.debug:
            outcome = self._outcome(arguments)
            inputs = [*arguments.arrays(self.name), *seeds(outcome, arguments.types)]
            result = self._assembled(outcome, outcome.derive().debug_nan(inputs))
        else:
            compiled = self._compiled(arguments)
            result = compiled._run(arguments, seeds(compiled.outcome, arguments.types), self.look)
        return self._with_aux(result, args, kwargs)

    def _inline(self, arguments, seeds):
        """The derivative as part of the trace that is under way."""
        if self.debug:
            raise errors.Unsupported("rg.debug_nan inside a traced function; put it around the outermost function", errors.here())
        if self.look is not None:
            raise errors.Unsupported("rg.observe inside a traced function; put it around the outermost function", errors.here())
        outcome, trace = self._outcome(arguments), current()
        values = [*(leaf for leaf, _ in arguments.leaves), *outcome.taken, *seeds(outcome, arguments.types)]
        handles = [lift(value, "an argument") for value in values]
        results = trace.tracer.call_program(outcome.derive(), handles, errors.here())
        return outcome.assemble(results, self.single(), _boxed)

    def _outcome(self, arguments):
        wrt = [] if self.wanted == "results" else arguments.floats() if self.argnums is None else arguments.chosen(self.argnums, self.name)
        return Outcome(self.fun, arguments, self.wanted, self.has_aux, wrt)

    def _assembled(self, outcome, results):
        return outcome.assemble(results, self.single(), _unboxed)

    def _with_aux(self, result, args, kwargs):
        """What a Jacobian does not hand back, the function itself does."""
        if not self.has_aux or self.wanted not in WITHOUT_AUX:
            return result
        return result, Transformed(self.fun, "results", (), True, self.budget, self.strategy, self.backend, self.spill, self.spill_budget, self.threads)(*args, **kwargs)[1]

    def _bind(self, args, kwargs):
        signature = inspect.signature(self.fun)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise errors.ArgumentError(f"{self.name}(): {error}") from None
        return Arguments(signature, bound, self.name)

    def _compiled(self, arguments):
        compiled = self.cache.get(arguments.key)
        if compiled is None:
            compiled = self.cache[arguments.key] = Compiled(self, arguments)
        return compiled


def _unboxed(result, scalar):
    """A result as NumPy gives it: gradients of numbers are arrays of rank 0."""
    return result[()] if scalar else np.asarray(result)


def _boxed(result, scalar):
    return traced(result, scalar=scalar) if isinstance(result, int) else result


class Plan:
    """How a run uses memory; it prints. `bytes_peak`, and `bytes_spilled` on disk, are exact."""

    def __init__(self, executable):
        self.bytes_peak, self.bytes_spilled = executable.bytes_peak, executable.bytes_spilled
        self._text = executable.plan()

    def __str__(self):
        return self._text

    __repr__ = __str__


class Stats:
    """What the last run took."""

    def __init__(self, bytes_peak, seconds, bytes_spilled=0):
        self.bytes_peak, self.seconds, self.bytes_spilled = bytes_peak, seconds, bytes_spilled

    def __repr__(self):
        return f"Stats(bytes_peak={self.bytes_peak}, seconds={self.seconds}, bytes_spilled={self.bytes_spilled})"


class Compiled:
    """Machine code for arguments of fixed types."""

    def __init__(self, transformed, arguments):
        self._transformed = transformed
        self.stats = None
        self.outcome = transformed._outcome(arguments)
        self.program, strategy = self.outcome.program, transformed.strategy
        named = {key: [(str(name), str(fate)) for name, fate in strategy.options.get(key, {}).items()] for key in ("values", "loops")}
        numbers = [(key, number) for key, number in strategy.options.items() if key not in named]
        options = (strategy.name, numbers, named["values"], named["loops"])
        spill = None if transformed.spill is None else (os.fspath(transformed.spill), transformed.spill_budget, None)
        wanted, leaves, budget = transformed.wanted, self.outcome.leaves, transformed.budget
        machine = (transformed.backend, transformed.threads)
        self._executable = _native.compile(self.program, wanted, leaves, options, (budget, spill), machine)
        self.plan = Plan(self._executable)

    @property
    def threads(self):
        """How many threads a run has: as many as were asked for, or one where its arrays are too small to share."""
        return self._executable.threads

    @property
    def backend(self):
        """Who made the machine code: a name, a version and, of a library, its path."""
        return self._executable.backend

    def __call__(self, *args, **kwargs):
        arguments = self._transformed._bind(args, kwargs)
        if arguments.key not in self._transformed.cache or self._transformed.cache[arguments.key] is not self:
            found = ", ".join(f"{name}[{','.join(map(str, shape))}]" if shape else name for name, shape, _ in arguments.types)
            raise errors.ArgumentError(f"{self._transformed.name}() was compiled for arguments of other types, found {found}")
        return self._transformed._with_aux(self._run(arguments, [], self._transformed.look), args, kwargs)

    def _run(self, arguments, seeds, look):
        inputs = [*arguments.arrays(self._transformed.name), *seeds]
        if look is not None:
            return self._transformed._assembled(self.outcome, self._executable.run_observed(inputs, look))
        results, bytes_peak, seconds, bytes_spilled = self._executable.run(inputs)
        self.stats = Stats(bytes_peak, seconds, bytes_spilled)
        return self._transformed._assembled(self.outcome, results)
