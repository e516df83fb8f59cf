"""`grad` and its relatives: functions of NumPy arrays from plain NumPy functions, with the signatures of JAX."""

import copy
import functools
import types

from . import errors
from .arguments import Signature
from .array import lift, traced
from .compiled import Compiled
from .custom import custom_jvp, custom_vjp
from .expr import Expr
from .options import Options, Strategy, takes_options
from .outcome import WITHOUT_AUX, Outcome, unboxed
from .trace import current


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
    """Your own fates; what is not named is decided as by `auto`, with loops in the order in which they are written: `rg.user()` is `auto` without tiles.

    `values` says "keep" or "recompute" by name: a line ("model.py:12"), an op ("sin") or both ("sin at model.py:12"), as a plan prints them.
    `loops` says by line how a loop is reversed: "keep_all", "recompute_all", "periodic 10" (steps) or "revolve 5" (slots). A name that is
    not there is an error.
    """
    return Strategy("user", values=dict(values or {}), loops=dict(loops or {}))


def auto():
    """The fastest plan that fits: the default."""
    return Strategy("auto")


@takes_options
def value_and_grad(fun, argnums=0, has_aux=False, **options):
    """A function that returns the value of `fun` and its gradient with respect to the arguments `argnums`.

    `fun` is a plain NumPy function that returns one float (with `has_aux`, a pair of it and anything else, which is handed back). It gets
    copies of its arguments: what it changes in place is not seen by the caller.
    """
    return Transformed(fun, "value_and_gradient", argnums, has_aux, options)


@takes_options
def grad(fun, argnums=0, has_aux=False, **options):
    """A function that returns the gradient of `fun` with respect to the arguments `argnums`; with `has_aux`, a pair of it and the rest."""
    return Transformed(fun, "gradient", argnums, has_aux, options)


@takes_options
def jacfwd(fun, argnums=0, has_aux=False, **options):
    """A function that returns the Jacobian of `fun`, in forward mode: the axes of the result, then those of the argument."""
    return Transformed(fun, "jacfwd", argnums, has_aux, options)


@takes_options
def jacrev(fun, argnums=0, has_aux=False, **options):
    """A function that returns the Jacobian of `fun`, in reverse mode."""
    return Transformed(fun, "jacrev", argnums, has_aux, options)


@takes_options
def jacobian(fun, argnums=0, has_aux=False, **options):
    """A function that returns the Jacobian of `fun`, in the mode that takes fewer seeds."""
    return Transformed(fun, "jacobian", argnums, has_aux, options)


@takes_options
def hessian(fun, argnums=0, has_aux=False, **options):
    """A function that returns the Hessian of `fun`, which returns one float, by forward over reverse."""
    return Transformed(fun, "hessian", argnums, has_aux, options)


@takes_options
def jit(fun, **options):
    """`fun` as machine code."""
    return Transformed(fun, "results", (), False, options)


@takes_options
def jvp(fun, primals, tangents, has_aux=False, **options):
    """`fun(*primals)` and its tangent along `tangents`; with `has_aux`, also what `fun` returns besides."""
    transformed = Transformed(fun, "jvp", None, has_aux, options)
    return transformed._call(tuple(primals), {}, lambda outcome, types: outcome.tangents(tuple(tangents), types))


@takes_options
def vjp(fun, *primals, has_aux=False, **options):
    """`fun(*primals)` and a function from a cotangent of it to the cotangents of the primals; with `has_aux`, also what `fun` returns besides.

    Arguments that are no floats have the cotangent None. The function runs `fun` again.
    """
    value = Transformed(fun, "results", (), has_aux, options)(*primals)
    transformed = Transformed(fun, "vjp", None, has_aux, options)

    def pullback(ct):
        return transformed._call(primals, {}, lambda outcome, types: outcome.cotangents(ct))

    return (value[0], pullback, value[1]) if has_aux else (value, pullback)


@takes_options
def hvp(fun, primals, tangents, argnums=0, **options):
    """The Hessian of `fun(*primals)`, one float, times `tangents` (one per argument of `argnums`), by forward over reverse."""
    transformed = Transformed(fun, "hvp", argnums, False, options)
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
    transformed.debug, transformed._last = True, None
    return transformed


def observe(fun, look=None):
    """`fun` (plain, or made by `rg.grad` and its relatives), with `look(name, steps, array)` called for what `rg.probe` and
    `rg.probe_cotangent` see, in the order in which it happens; without `look` it is printed.

    `steps` are the indices of the loops around the probe, the outermost first; the array is a copy.
    """
    transformed = copy.copy(fun if isinstance(fun, Transformed) else jit(fun))
    transformed.look, transformed.cache, transformed._last = _print if look is None else look, {}, None
    return transformed


def _print(name, steps, array):
    print(f"{name}{list(steps) if steps else ''}: {array}")


def check_grads(fun, args, order, modes=("fwd", "rev")):
    """Holds the derivatives of `fun` at `args` up to an order against finite differences and each other; raises AssertionError."""
    transformed = jit(fun)
    arguments = transformed.signature().bind(tuple(args), {})
    outcome = Outcome(fun, arguments, "results", False, [])
    modes = [modes] if isinstance(modes, str) else list(modes)
    try:
        outcome.program.check_grads(arguments.arrays(), order, modes)
    except errors.ArgumentError as error:
        raise AssertionError(str(error)) from None


class Transformed:
    """A function of NumPy arrays; compiled once per types of its arguments. Inside a traced function it becomes part of the trace."""

    debug = False
    look = None
    # What ran last: most calls are like the one before.
    _last = None

    def __init__(self, fun, wanted, argnums, has_aux, options):
        if not isinstance(fun, (types.FunctionType, types.MethodType, functools.partial, Transformed, custom_jvp, custom_vjp, Expr)):
            raise errors.ArgumentError(f"a Python function is needed, found {type(fun).__name__}")
        functools.update_wrapper(self, fun, updated=())
        self.fun, self.wanted, self.argnums, self.has_aux = fun, wanted, argnums, has_aux
        self.options, self._given, self._signature = Options(options), options, None
        self.cache = {}

    @property
    def name(self):
        return getattr(self.fun, "__name__", type(self.fun).__name__)

    def single(self):
        return isinstance(self.argnums, int)

    def __call__(self, *args, **kwargs):
        return self._call(args, kwargs, _no_seeds)

    def plan(self, *args, **kwargs):
        """How a run will use memory, for arguments of these types (arrays or `rg.spec`); it prints."""
        return self.compile(*args, **kwargs).plan

    def compile(self, *args, **kwargs):
        """The compiled function for arguments of these types (arrays or `rg.spec`)."""
        return self._compiled(self.signature().bind(args, kwargs))

    def _call(self, args, kwargs, seeds):
        """`seeds` gives cotangents or tangents, from the outcome of the trace and the types of the arguments."""
        if self._last is not None and seeds is _no_seeds and not kwargs and current() is None:
            ran = self._last.run_directly(args)
            if ran is not None:
                return ran[0]
        arguments = self.signature().bind(args, kwargs)
        if current() is not None:
            result = self._inline(arguments, seeds)
        elif self.debug:
            outcome = self._outcome(arguments)
            inputs = [*arguments.arrays(), *seeds(outcome, arguments.types)]
            result = outcome.assemble(outcome.derive().debug_nan(inputs), self.single(), unboxed)
        else:
            compiled = self._last = self._compiled(arguments)
            result = compiled._run(arguments, seeds(compiled.outcome, arguments.types))
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
        results = trace.tracer.call_program(outcome.derive(), handles, errors.here())
        return outcome.assemble(results, self.single(), _boxed)

    def _outcome(self, arguments):
        wrt = [] if self.wanted == "results" else arguments.floats() if self.argnums is None else arguments.chosen(self.argnums)
        return Outcome(self.fun, arguments, self.wanted, self.has_aux, wrt)

    def wants_aux(self):
        """Whether what the function returns besides is not among the results of the Program."""
        return self.has_aux and self.wanted in WITHOUT_AUX

    def _aux(self, args, kwargs):
        """What a Jacobian does not hand back, the function itself does."""
        return Transformed(self.fun, "results", (), True, self._given)(*args, **kwargs)[1]

    def signature(self):
        if self._signature is None:
            self._signature = Signature.of(self.fun, self.name)
        return self._signature

    def _compiled(self, arguments):
        compiled = self.cache.get(arguments.key)
        if compiled is None:
            compiled = self.cache[arguments.key] = Compiled.of(self, arguments)
        return compiled


def _no_seeds(outcome, types):
    return []


def _boxed(result, scalar):
    return traced(result, scalar=scalar) if isinstance(result, int) else result
