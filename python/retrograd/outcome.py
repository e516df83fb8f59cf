"""What tracing a function gives: its Program, and how results of the Program become what the user gets."""

import functools
import re

import numpy as np

from . import _native, bounds, effects, errors, statics, texts, tree, views, writes
from .array import Array, describe, lift, local, traced
from .maybe import present_in
from .narrow import Narrow
from .outside import Outside
from .trace import NUMPY, Retry, Trace, current, is_float, tracing

SCALAR = {"gradient", "value_and_gradient", "hvp", "hessian"}
JACOBIANS = {"jacfwd", "jacrev", "jacobian"}
WITHOUT_AUX = {"hvp", "hessian", *JACOBIANS}


class Outcome:
    """A function traced over arguments of fixed types."""

    externals = ()

    def __init__(self, fun, arguments, wanted, has_aux, wrt, varying=()):
        self.wanted, self.has_aux, self.wrt = wanted, has_aux, wrt
        self.leaves = [k for _, leaves in wrt for k in leaves if k is not None]
        self._maker = None
        self.static = {k: arguments.leaves[k][0].item() for k, (dtype, _, scalar) in enumerate(arguments.types) if dtype == "bool" and scalar == "python" and _is_known(arguments.leaves[k][0])}
        inside = current() is not None
        self.outside = current().outside if inside else Outside(varying=varying)
        if inside:
            self.static.update({k: leaf.item() for k, (leaf, scalar) in enumerate(arguments.leaves) if scalar in ("python", "large") and _is_known(leaf) and leaf.dtype.kind == "i"})
        notes, again = {}, 0
        while True:
            self.outside.target = self.outside.target or self
            try:
                trace = self._trace(fun, arguments, notes)
            except Retry as retry:
                if retry.loop is not self:
                    raise
                again += 1
                if again > 100:
                    raise errors.InternalError("the function is traced again and again; please report it", place_of(fun)) from None
                if not inside:
                    self.outside = Outside(self.outside.fixed, self.outside.varying)
                continue
            break
        self.taken = [array for array, _ in trace.taken.values()]
        self.unrolled, self.bodies_traced, self.fates, self.externals = trace.unrolled, trace.bodies_traced, trace.fates, trace.externals
        if not inside:
            self._check_outside(fun, arguments, notes, trace)

    def _trace(self, fun, arguments, notes):
        from . import runtime

        name = getattr(fun, "__name__", type(fun).__name__)
        trace = Trace(_native.Tracer(name), name, notes, self.outside)
        self.prints = trace.prints = texts.Prints()
        trace.order += {"results": 0, "hessian": 2, "hvp": 2}.get(self.wanted, 1)
        with tracing(trace):
            boxes = []
            for k, (dtype, shape, scalar) in enumerate(arguments.types):
                handle = trace.tracer.input(dtype, list(shape))
                kind, _, number = scalar.partition(" ")
                if kind not in ("", "python", "numpy", "large"):
                    boxes.append(Narrow(traced(handle, scalar=bool(number)), kind))
                    continue
                leaf = arguments.leaves[k][0]
                if k not in self.leaves and isinstance(leaf, (np.ndarray, np.generic)):
                    trace.derived[handle] = frozenset([Argument(self, k, leaf, scalar)])
                boxes.append(traced(handle, scalar=bool(scalar), weak=scalar in ("python", "large")) if k not in self.static else local(self.static[k]))
                _bound(boxes[-1], scalar, leaf)
            args, kwargs = arguments.rebuild(boxes)
            for value in (*args, *kwargs.values()):
                _own(value)
            result = _run(trace, functools.partial(runtime.call, fun), args, kwargs)
            if len(trace.frames) > 1:
                raise errors.Unsupported("an error inside a loop was caught by the function; tracing cannot go on after it", trace.frame.pos)
            handles = self._results(fun, name, result)
            self.writes = writes.Writes.of(arguments, boxes, [*args, *kwargs.values()], result, self) if self.wanted == "results" else writes.Writes()
            self.program = trace.tracer.finish([*handles, *self.writes.handles()])
        return trace

    def _check_outside(self, fun, arguments, notes, trace):
        """What a function reads from outside is as it was before, and a second trace finds the same where not all that ran could be read."""
        place = self.outside.changed()
        if place is not None:
            raise errors.Unsupported(f"the function changes `{place.name}`, which lives outside of it: it would change once, not at every call", place_of(fun))
        if not trace.unread:
            return
        program, outside = self.program, self.outside
        self.outside = Outside(outside.fixed, outside.varying)
        self.outside.target = self
        try:
            self._trace(fun, arguments, notes)
            same = _as_run(str(self.program)) == _as_run(str(program))
        except Retry:
            same = False
        if not same:
            raise errors.Unsupported("the function is another one when it is traced again: it depends on something that it changes outside of itself", place_of(fun))
        self.program, self.outside = program, outside

    def _results(self, fun, name, result):
        pos = place_of(fun)
        aux = []
        if self.has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise errors.ArgumentError(f"with has_aux=True, {name}() must return a pair of its value and something else", pos)
            result, aux = result
        leaves, self.structure = tree.flatten(present_in(result), objects=tree.ANY)
        others, self.aux_structure = tree.flatten(present_in(aux), objects=tree.ANY) if self.has_aux else ([], None)
        others = [] if self.wanted in WITHOUT_AUX else others
        for value in tree.statics(self.structure):
            if value is not None or result is None:
                found = type(value.value if isinstance(value, tree.Same) else value).__name__
                hint = "NoneType: is there a `return`?" if value is None else found
                raise errors.ArgumentError(f"{name}() must return arrays and numbers, found {hint}", pos)
        handles = [_handle(leaf, name, pos) for leaf in [*leaves, *others]]
        shape = current().type(handles[0])[1] if handles else ()
        # A gradient is that of the one number in an array, which the caller gets in the shape that the function gives it.
        self.value_shape = tuple(shape) if self.wanted in SCALAR and shape and all(extent == 1 for extent in shape) else None
        if self.value_shape is not None:
            handles[0] = views.reshape(current(), handles[0], ())
        self.types = [current().type(handle) for handle in handles]
        self.count = len(leaves)
        self.scalars = [_scalar(leaf) for leaf in [*leaves, *others]]
        if self.value_shape is not None:
            self.scalars[0] = self.value_shape
        if self.wanted in SCALAR and (self.structure is not None or self.types[0][1] or not is_float(self.types[0][0])):
            found = "several values" if self.structure is not None else describe(leaves[0]) if isinstance(leaves[0], Array) else type(leaves[0]).__name__
            advice = "compute with floats" if self.structure is None and not self.types[0][1] else "reduce it with np.sum"
            raise errors.ShapeError(f"a gradient needs a function that returns one float; {name}() returns {found}; {advice}", pos)
        if self.wanted in JACOBIANS and not all(is_float(dtype) for dtype, _ in self.types):
            raise errors.DTypeError(f"a Jacobian needs a function that returns floats; {name}() returns {', '.join(t for t, _ in self.types)}", pos)
        return handles

    def to_json(self):
        """What `assemble` needs, for a file."""
        structure = self.structure_to_json
        wrt = [[structure(part), numbers] for part, numbers in self.wrt]
        return {
            "wanted": self.wanted, "has_aux": self.has_aux, "wrt": wrt, "types": self.types, "count": self.count, "scalars": self.scalars,
            "value_shape": self.value_shape, "structure": structure(self.structure), "aux_structure": structure(self.aux_structure),
        }

    @staticmethod
    def from_json(saved):
        structure, outcome = Outcome.structure_from_json, Outcome.__new__(Outcome)
        outcome._maker, outcome.prints, outcome.writes = None, texts.Prints(), writes.Writes()
        outcome.wanted, outcome.has_aux, outcome.count, outcome.scalars = saved["wanted"], saved["has_aux"], saved["count"], saved["scalars"]
        outcome.wrt = [(structure(part), numbers) for part, numbers in saved["wrt"]]
        outcome.value_shape = None if saved["value_shape"] is None else tuple(saved["value_shape"])
        if outcome.value_shape is not None:
            outcome.scalars[0] = outcome.value_shape
        outcome.types = [(dtype, tuple(shape)) for dtype, shape in saved["types"]]
        outcome.structure, outcome.aux_structure = structure(saved["structure"]), structure(saved["aux_structure"])
        return outcome

    @staticmethod
    def structure_to_json(structure):
        """How something is nested, for a file; a class of the user's own has no name there."""
        if structure is None:
            return None
        kind, parts = structure
        if isinstance(kind, tree.Node) and kind.kind == "static" and (kind.rest is None or isinstance(kind.rest, str)):
            return ["static", [], kind.rest]
        if isinstance(kind, tree.Node):
            what = f"something static, a {type(getattr(kind.rest, 'value', kind.rest)).__name__}," if kind.kind == "static" else f"what is nested in {kind.kind.__name__}"
            raise errors.Unsupported(f"{what} cannot be saved; use tuples, lists and dicts")
        parts = [Outcome.structure_to_json(part) for part in parts]
        if isinstance(kind, tuple):
            keys = list(kind[1])
            if not all(isinstance(key, str) for key in keys):
                raise errors.Unsupported("only dicts whose keys are strings can be part of what is saved")
            return ["dict", parts, keys]
        if kind not in (tuple, list):
            raise errors.Unsupported(f"what is nested in {kind.__name__} cannot be saved; use tuples, lists and dicts")
        return [kind.__name__, parts]

    @staticmethod
    def structure_from_json(saved):
        if saved is None:
            return None
        kind, parts, *keys = saved
        if kind == "static":
            return tree.Node("static", keys[0]), ()
        parts = tuple(Outcome.structure_from_json(part) for part in parts)
        return (("dict", tuple(keys[0])), parts) if kind == "dict" else ({"tuple": tuple, "list": list}[kind], parts)

    def derive(self):
        """The Program of what is wanted."""
        return self.program.derive(self.wanted, self.leaves)

    def cotangents(self, ct):
        """Seeds of a vjp: what the user gave for the results, zeros for the rest."""
        leaves = tree.flatten_as(self.structure, ct)
        if leaves is None:
            raise errors.ArgumentError("the cotangent must be nested as the result of the function is", errors.here())
        given = [*leaves, *(np.zeros(shape) for _, shape in self.types[self.count :])]
        return [seed(leaf, dtype, shape, "cotangent") for leaf, (dtype, shape) in zip(given, self.types) if is_float(dtype)]

    def tangents(self, values, types):
        """Seeds of a jvp or hvp: one per argument that is differentiated."""
        if len(values) != len(self.wrt):
            raise errors.ArgumentError(f"{len(self.wrt)} tangents are needed, found {len(values)}", errors.here())
        seeds = []
        for value, (structure, numbers) in zip(values, self.wrt):
            leaves = tree.flatten_as(structure, value)
            if leaves is None:
                raise errors.ArgumentError("tangents must be nested as the arguments are", errors.here())
            seeds += [seed(leaf, *types[k][:2], "tangent") for leaf, k in zip(leaves, numbers) if k is not None]
        return seeds

    def assemble(self, results, single, wrap):
        """What the user gets: `single` where one argument is differentiated by its number; `wrap` makes a result the user's."""
        if self._maker is None:
            scalars = [None] * len(results)

            def note(place, scalar):
                if scalar is not None:
                    scalars[place] = scalar
                return place

            # The places of the results, nested as the user gets them: every call after the first only fills them in.
            self._maker = tree.maker(self._nested(range(len(results)), single, note)), scalars
        make, scalars = self._maker
        return make([wrap(result, scalar) for result, scalar in zip(results, scalars)])

    def _nested(self, results, single, wrap):
        results = list(results)
        total = 0 if self.wanted in WITHOUT_AUX else len(self.types) - (self.wanted == "gradient")
        scalars = self.scalars[1:] if self.wanted == "gradient" else self.scalars
        values = [wrap(result, scalar) for result, scalar in zip(results[:total], scalars)]
        rest = iter(wrap(result, None) for result in results[total:])
        aux = None
        if self.has_aux and self.wanted not in WITHOUT_AUX:
            aux = tree.unflatten(self.aux_structure, values[total - (len(self.types) - self.count) :])
        value = None if self.wanted in WITHOUT_AUX or self.wanted == "gradient" else tree.unflatten(self.structure, values[: self.count])
        by_argument = lambda: [tree.unflatten(structure, [None if k is None else next(rest) for k in numbers]) for structure, numbers in self.wrt]
        chosen = lambda: by_argument()[0] if single else tuple(by_argument())
        match self.wanted:
            case "results":
                return (value, aux) if self.has_aux else value
            case "gradient":
                return (chosen(), aux) if self.has_aux else chosen()
            case "value_and_gradient":
                return ((value, aux) if self.has_aux else value), chosen()
            case "vjp" | "hvp":
                return chosen()
            case "jvp":
                tangents = [next(rest) if is_float(dtype) else None for dtype, _ in self.types]
                tangents = [wrap(d, scalar) if d is not None else None for d, scalar in zip(tangents, self.scalars)]
                pair = (value, tree.unflatten(self.structure, tangents[: self.count]))
                return (*pair, aux) if self.has_aux else pair
            case "hessian":
                rows = [tree.unflatten(structure, [chosen() for _ in numbers]) for structure, numbers in self.wrt]
                return rows[0] if single else tuple(rows)
            case _:
                return tree.unflatten(self.structure, [chosen() for _ in range(self.count)])


# What a trace that was begun again leaves where nothing reads it.
_LEFT = re.compile(r"  %\d+: \S+ = (?:constant|convert|reshape|slice|broadcast|transpose)\b")
_VALUE = re.compile(r"%\d+")


def _as_run(text):
    """The text of a Program without what is left over of traces that were begun again: values that nothing reads, names by order."""
    functions = {block.split("(", 1)[0].removeprefix("fn "): block.splitlines() for block in text.strip().split("\n\n")}
    names = {}

    def of(name):
        used, kept, values = set(), [], {}
        for line in reversed(functions[name]):
            made, _, reads = line.partition(" = ")
            if not _LEFT.match(line) or _VALUE.search(made)[0] in used:
                used.update(_VALUE.findall(reads or line))
                kept.append(line)
        body = _VALUE.sub(lambda found: values.setdefault(found[0], f"%{len(values)}"), "\n".join(kept[::-1]).partition("(")[2])
        return re.sub(rf"\b({'|'.join(map(re.escape, functions))})\b(?=[,}}])", lambda found: inlined(found[0]), body)

    def inlined(name):
        if name not in names:
            names[name] = f"<{len(names)}>"
            names[name] = f"{names[name]} {of(name)}"
        return names[name]

    return of(next(iter(functions)))


def unboxed(result, scalar):
    """A result as NumPy gives it: gradients of numbers are arrays of rank 0. `scalar` is a shape where the number has one."""
    if type(scalar) is tuple:
        return result.reshape(scalar)
    if type(scalar) is str:
        dtype, _, number = scalar.partition(" ")
        return result.astype(dtype)[()] if number else result.astype(dtype)
    return result[()] if scalar else result


class Argument:
    """An argument that is not differentiated as the source of what follows from it alone: to know that in Python, the function is traced for its value."""

    def __init__(self, outcome, number, leaf, scalar):
        self.outcome, self.number, self.leaf, self.scalar = outcome, number, leaf, scalar

    def depth(self):
        return -1

    def loop(self):
        return self.outcome

    def is_number(self):
        return not np.ndim(self.leaf)

    def is_beside(self):
        """Whether it is data beside what is computed with: where nothing is differentiated, floats may be what the function is about."""
        return self.outcome.wanted != "results" or self.leaf.dtype.kind != "f"

    def demand(self):
        self.outcome.static[self.number] = statics.value_of(self.leaf, self.scalar)


def _is_known(leaf):
    return isinstance(leaf, (np.ndarray, np.generic)) and np.ndim(leaf) == 0


def _bound(box, scalar, leaf):
    """What is known of an integer argument: that it is small, or what was known where it is an argument of a function inside."""
    if isinstance(box, Array) and box._weak and box.dtype.kind == "i":
        box._bounds = bounds.of(leaf) if isinstance(leaf, Array) else (-bounds.ARGUMENT, bounds.ARGUMENT) if scalar == "python" else bounds.INTEGERS


def _own(value):
    """Containers and objects of arguments are copies, which belong to the function."""
    if isinstance(value, (list, tuple, dict)):
        items = value.values() if isinstance(value, dict) else value
    else:
        parts = None if isinstance(value, Array) else tree.parts_of(value, tree.ANY)
        if parts is None or parts[0].kind == "static":
            return
        items = parts[1]
    if not isinstance(value, tuple):
        effects.made(value)
    for item in items:
        _own(item)


def readable(fun):
    """A part of a traced function: read where it has source, as functions that it calls are."""
    from . import runtime

    return functools.partial(runtime.call, fun)


def place_of(fun):
    code = getattr(getattr(fun, "__func__", fun), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else errors.here()


def seed(value, dtype, shape, what):
    """A cotangent or tangent of a type: an array, or a value of the trace."""
    found = value.shape if isinstance(value, Array) else np.shape(value)
    if tuple(found) != tuple(shape):
        raise errors.ShapeError(f"a {what} of shape {tuple(shape)} is needed, found {tuple(found)}", errors.here())
    if isinstance(value, Array):
        return traced(views.convert(current(), value.handle(), dtype), scalar=value._scalar)
    return np.ascontiguousarray(value, NUMPY[dtype]).reshape(shape)


def _run(trace, function, args, kwargs):
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


def _scalar(leaf):
    """Whether a result is a number, as NumPy gives it; of an element type that the compiler has not, its name."""
    if isinstance(leaf, Narrow):
        return f"{leaf.dtype}{' numpy' if leaf.carrier._scalar else ''}"
    return not isinstance(leaf, (Array, np.ndarray)) or isinstance(leaf, Array) and leaf._scalar


def _handle(leaf, name, pos):
    if isinstance(leaf, Narrow):
        return leaf.carrier.handle()
    if not isinstance(leaf, (Array, np.ndarray, np.generic)) and hasattr(type(leaf), "__array_ufunc__"):
        np.asarray(leaf)  # what has no elements that could be returned says why
    if isinstance(leaf, np.ndarray) and type(leaf) is not np.ndarray or not isinstance(leaf, (Array, np.ndarray, np.generic, int, float)):
        raise errors.ArgumentError(f"{name}() must return arrays and numbers, found {type(leaf).__name__}", pos)
    return lift(leaf, "the result")
