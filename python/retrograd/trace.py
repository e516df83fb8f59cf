"""One trace: the Program under construction, and which function or loop body is being built."""

import threading

import numpy as np

from . import errors

DTYPES = {
    np.dtype(np.float32): "f32", np.dtype(np.float64): "f64", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64", np.dtype(np.bool_): "bool",
}
NUMPY = {name: dtype for dtype, name in DTYPES.items()}


def is_float(dtype):
    """Whether an element type of the compiler has derivatives."""
    return NUMPY[dtype].kind == "f"


_local = threading.local()


class Frame:
    """A function or body under construction. `mutated` holds the outer arrays that it changes in place, with their state before."""

    def __init__(self, kind, pos, scope=()):
        self.kind = kind
        self.pos = pos
        self.mark = None  # of the trace that it belongs to
        self.open = True
        self.mutated = {}
        self.containers = {}
        for name, value in scope:
            _reach(value, name, self.containers, depth=4)


class Trace:
    """The tracer of the compiler with the stack of open frames. Handles are the tracer's values.

    A function that is differentiated while another is traced has a trace of its own; `around` is the one around it. What it reads of
    the arrays around it becomes an input of its Program, one per array: `taken`.
    """

    def __init__(self, tracer, function_name):
        self.tracer = tracer
        self.name = function_name
        self.around = current()
        self.mark = object()
        self.frames = []
        self.outer = {}
        self.unbound = {}
        self.taken = {}
        self.push(Frame("function", None))

    @property
    def frame(self):
        return self.frames[-1]

    def in_body(self):
        """Whether a body of control flow is being built: Python side effects there would happen once, not once per step."""
        return bool(self.bodies())

    def bodies(self):
        """The open bodies of control flow, those of the traces around this one first."""
        return [*(self.around.bodies() if self.around else ()), *self.frames[1:]]

    def take(self, array):
        """The input that an array of a trace around this one is here."""
        known = self.taken.get(id(array))
        if known is None:
            trace = self.around
            while trace is not None and trace.mark is not array.root()._frame.mark:
                trace = trace.around
            if trace is None:
                raise errors.Unsupported("a traced array was kept after its function had been traced", errors.here())
            known = self.taken[id(array)] = (array, self.tracer.input(DTYPES[array.dtype], list(array.shape)))
        return known[1]

    def push(self, frame):
        frame.mark = self.mark
        self.frames.append(frame)

    def pop(self, frame):
        if self.frames[-1] is not frame:
            raise errors.Unsupported("an error inside a loop was caught by the function; tracing cannot go on after it", frame.pos)
        self.frames.pop()
        frame.open = False

    def op(self, row, args, /, **attrs):
        """An instruction at the user's current line."""
        return self.tracer.op(row, attrs, args, errors.here())

    def type(self, handle):
        return self.tracer.type(handle)

    def constant(self, value):
        """A literal; a large array of equal elements is one number, repeated."""
        value = np.asarray(value)
        if value.dtype not in DTYPES:
            raise errors.DTypeError(refuse_dtype(value.dtype), errors.here())
        pos = errors.here()
        if value.size > 1 and (is_repeated(value) or _is_one_number(value)):
            scalar = self.tracer.constant(np.array(value.flat[0]), pos)
            return self.tracer.op("broadcast", {"shape": list(value.shape), "axes": []}, [scalar], pos)
        return self.tracer.constant(np.array(value, order="C"), pos)


def is_repeated(elements):
    """Whether an array is one number in memory, repeated."""
    return elements is not None and elements.ndim > 0 and not any(elements.strides)


def _is_one_number(elements):
    """Whether all elements have the bits of the first."""
    flat = elements.reshape(-1)
    return np.array_equal(flat.view(np.uint8).reshape(flat.size, -1), np.broadcast_to(flat[:1].view(np.uint8), (flat.size, flat.itemsize)))


def refuse_dtype(dtype):
    """What to say about an element type that is not supported."""
    if dtype.kind == "c":
        return f"complex numbers ({dtype}) are not supported"
    if dtype.kind == "f":
        return f"{dtype} is not supported, use float32 or float64"
    if dtype.kind in "iu":
        return f"{dtype} is not supported, use int32 or int64"
    return f"arrays of {dtype} are not supported"


def current():
    """The trace of this thread, or None."""
    return getattr(_local, "trace", None)


class tracing:
    """Makes a trace the current one of this thread."""

    def __init__(self, trace):
        self.trace = trace

    def __enter__(self):
        self.before = current()
        _local.trace = self.trace
        return self.trace

    def __exit__(self, *_):
        _local.trace = self.before


def _reach(value, name, found, depth):
    """Lists, dicts, sets and iterators that can be reached from a value, by identity, with a name to report."""
    if (isinstance(value, (list, dict, set, bytearray)) or hasattr(type(value), "__next__")) and id(value) not in found:
        found[id(value)] = (name, value)
    if depth and isinstance(value, (list, tuple, dict)):
        items = value.values() if isinstance(value, dict) else value
        for item in list(items)[:1000]:
            _reach(item, name, found, depth - 1)
