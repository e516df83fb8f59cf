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


# Instructions that may fail when they run, with what Python raises then.
_RISKY = {"dynamic_slice": IndexError, "gather": IndexError, "update": IndexError, "scatter_set": IndexError, "rem": ZeroDivisionError, "div": ZeroDivisionError}

_OF_INTEGERS = ("rem", "div")

COPIES = 10_000  # of bodies of unrolled loops in one function
EXCHANGES = 256  # steps of a loop that is unrolled because of names that share an array

_local = threading.local()


class Retry(BaseException):
    """A body, or the whole function where there is no `loop`, is traced again: something was found out that it has to know from its start."""

    def __init__(self, loop=None):
        super().__init__()
        self.loop = loop


class Frame:
    """A function or body under construction. `mutated` holds the outer arrays that it changes in place or makes unknown, with their state
    before; `roots` those that a loop carries; `read` those whose elements are known and were read; `effects` what else of Python it changes."""

    def __init__(self, kind, pos, loop=None):
        self.kind, self.pos, self.loop = kind, pos, loop
        self.mark = None  # of the trace that it belongs to
        self.depth = None
        self.open = True
        self.raised = False
        self.predicate = None  # of a branch
        self.again = False  # whether it may run twice in a derivative
        self.mutated, self.roots, self.read, self.effects = {}, {}, {}, {}
        self.assumed = {}  # outer arrays that something took to be the same in every step
        self.checked = set()  # values that are checked here, and for what
        self.draws = []  # what a step draws of generators from outside of it

    def undo(self):
        """All is as it was before the body."""
        for root, state in self.mutated.items():
            root.restore(state)
        for effect in reversed(self.effects.values()):
            effect.restore()


class Undecided:
    """A step of an iterator that may be none: what it made, and the iterators that it moved on, by identity."""

    def __init__(self):
        self.made, self.moved = set(), {}


class Trace:
    """The tracer of the compiler with the stack of open frames. Handles are the tracer's values.

    A function that is differentiated while another is traced has a trace of its own; `around` is the one around it. What it reads of
    the arrays around it becomes an input of its Program, one per array: `taken`. `derived` says of a handle on which indices of loops, integer
    arguments and outer values alone it depends: those can be had as Python values, by tracing again. `notes` is what was found out before.
    """

    def __init__(self, tracer, function_name, notes=None, outside=None):
        self.tracer = tracer
        self.name = function_name
        self.around = current()
        self.order = 0 if self.around is None else self.around.order  # how often what is traced will be differentiated
        self.mark = object()
        self.frames = []
        self.outside = outside if self.around is None else self.around.outside
        self.notes = {} if notes is None else notes
        self.made = {}
        self.joined = {}  # containers that control flow resulted in, by identity
        self.unbound = {}
        self.taken = {}
        self.derived = {}
        self.copies = 0
        self.overflows = 0  # checks of integers whose bounds do not show that they fit
        self.unrolled = {}
        self.fates = []
        self.externals = []
        self.entered = {}  # code that runs now, with how many times
        self.prints = None  # of the outermost function
        self.bodies_traced = {}
        self.risks, self.attempts = [], []
        self.unread = {}
        self.exchanged = {}  # arrays that a loop makes unknown because it exchanges them, with what is noted of the loop
        self.types = {}  # of handles
        self.options = []  # objects that are one of several, by their numbers
        self.undecided = None  # in a step that may be none, because a traced condition may have ended the loop
        self.unsure = {}  # iterators, by identity, of which such a loop leaves it open how far they are
        self.growing = {}  # lists that grow in a loop, by identity
        self.boxes = {}  # what loops carry, by identity: the loop, and which part of its state
        self.multiples = {}  # the symbols of integers times constants
        self.bounds = []  # of slices of traced length: the handle, and the integer that it is
        self.carried = {}  # parameters of loops that outer arrays are: the array, its value around the loop, the frame
        self.origin = {}  # how handles were made: the row, its attributes and arguments; of a constant its elements
        self.push(Frame("function", None))

    @property
    def frame(self):
        return self.frames[-1]

    def check_iterators(self, values):
        """Refuses the use of an iterator whose place is not known."""
        if self.unsure and any(self.unsure.get(id(value)) is value for value in values):
            raise errors.Unsupported("an iterator, after a loop over it that a traced condition may have ended: how far it is is not known; use an index", errors.here())

    def decide(self, what, value):
        """Refuses what would happen although the loop may have ended."""
        if self.undecided is not None and id(value) not in self.undecided.made:
            raise errors.Unsupported(f"{what} by an iterator, in a loop that a traced condition may have ended before; loop over an array or a list", errors.here())

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
        frame.mark, frame.depth = self.mark, len(self.frames)
        self.frames.append(frame)

    def copied(self, loop):
        """Counts the copies of bodies that are unrolled."""
        self.copies += 1
        pos = getattr(loop, "pos", None)
        if pos is not None:
            self.unrolled[pos] = self.unrolled.get(pos, 0) + 1
        if self.copies > COPIES:
            message = f"more than {COPIES:,} steps of loops are unrolled: a step needs Python values, or changes the form of something; use arrays, or a count that is traced"
            raise errors.Unsupported(message, pos or errors.here())

    def traced_body(self, control):
        """Counts how often a body is traced."""
        self.bodies_traced[control.pos, control.where] = self.bodies_traced.get((control.pos, control.where), 0) + 1

    def unwind(self, frame):
        """Drops all bodies from this one on, with what they changed."""
        while frame in self.frames:
            top = self.frames[-1]
            top.undo()
            self.tracer.abandon()
            self.frames.pop()
            top.open = False

    def enter(self, root):
        """An outer array that a loop reads is carried by it: it may change later in the body. One whose elements are known, and that nothing
        changes, stays known."""
        for frame in self.frames[root._frame.depth + 1 :]:
            if frame.loop is None or root in frame.roots:
                continue
            if root._const is not None:
                frame.read[root] = None
            else:
                self.carry(frame, root)

    def claim(self, root):
        """An outer array that a body changes is carried by the loops around."""
        stale = False  # what is inside of a loop that is traced again is, too
        for frame in self.frames[1:]:
            if frame.depth > root._frame.depth:
                if root in frame.assumed and not stale:
                    frame.loop.vary(root)
                if frame.loop is not None and root not in frame.roots:
                    if root in frame.read and not stale:
                        frame.loop.change(root)
                    self.carry(frame, root)
            stale = stale or frame.loop is not None and frame.loop.stale

    def carry(self, frame, root):
        start = root._value if root._const is None else self.constant_at(frame.depth - 1, root._const)
        frame.mutated.setdefault(root, root.state())
        root._value, root._const = self.tracer.carry(frame.depth, start), None
        if start in self.derived:
            # Unless the loop changes it: then it is still not known once its source is, and refused.
            self.derived[root._value] = self.derived[start]
        root._version += 1
        frame.roots[root] = root._value
        self.carried[root._value] = (root, start, frame)

    def invariant(self, root):
        """(The value of an array, the frame that made it) around the loops that carry it and have not changed it so far. If one does later, it is traced again."""
        handle, owner = root.handle(), self.frame
        while (known := self.carried.get(handle)) is not None and known[0] is root and known[2].open and root not in known[2].loop.varying:
            _, handle, frame = known
            frame.assumed[root] = None
            owner = self.frames[frame.depth - 1]
        return handle, owner

    def unroll_exchange(self, root):
        """An array that a loop has made unknown because it exchanges it for others is known where the loop is unrolled."""
        known, note, count = self.exchanged.get(id(root), (None, None, None))
        if known is root and self.around is None and count is not None and count <= EXCHANGES and not note.unrolled:
            note.unrolled = True
            raise Retry(self.outside.target)

    def constant_at(self, depth, value):
        value = np.asarray(value)
        one = value.size > 1 and (is_repeated(value) or _is_one_number(value))
        return self.tracer.constant_at(depth, np.array(value.flat[0]) if one else np.array(value, order="C"), list(value.shape) if one else None, errors.here())

    def pop(self, frame):
        if self.frames[-1] is not frame:
            raise errors.Unsupported("an error inside a loop was caught by the function; tracing cannot go on after it", frame.pos)
        self.frames.pop()
        frame.open = False

    def op(self, row, args, /, **attrs):
        """An instruction at the user's current line."""
        handle = self.tracer.op(row, attrs, args, errors.here())
        self.origin[handle] = (row, attrs, args)
        derived = self.derived
        try:
            derived[handle] = frozenset().union(*[derived[arg] for arg in args])
        except KeyError:
            pass
        if row in _RISKY and self._may_fail(row, args, handle):
            self.risk(_RISKY[row])
        return handle

    def _may_fail(self, row, args, handle):
        """Whether an instruction may: a division is one of integers, an index is not a literal, which was checked when it was written."""
        if row in _OF_INTEGERS:
            return not is_float(self.type(handle)[0])
        return any(self.derived.get(arg) != frozenset() for arg in args[1:] if not is_float(self.type(arg)[0]))

    def check(self, condition, message, kind):
        """Ends the run with an exception of this kind, at the user's current line, where the condition does not hold."""
        from .array import lift, traced

        attempt = self.attempt_at(kind)
        if attempt is not None:
            attempt.require(traced(condition), kind, message)
            return
        if self.attempts:
            # What has failed before is caught: this is not reached then.
            condition = lift(np.logical_or(traced(condition), np.logical_not(self.attempts[-1].fine)))
        self.risk(kind)
        self.tracer.check(condition, message, errors.tag_of(kind), errors.here())

    def risk(self, kind):
        """Notes an instruction that may fail when it runs."""
        if self.attempt_at(kind) is not None:
            raise errors.Unsupported(f"`try` around what can only fail when the program runs ({kind.__name__}) is not supported; test for it before", errors.here())
        self.risks.append(kind)

    def attempt_at(self, kind):
        """The innermost `try` that is being attempted and catches errors of a kind."""
        return next((attempt for attempt in reversed(self.attempts) if attempt.catches(kind)), None)

    def type(self, handle):
        """(The element type, the shape) of a value."""
        found = self.types.get(handle)
        if found is None:
            dtype, shape = self.tracer.type(handle)
            found = self.types[handle] = (dtype, tuple(shape))
        return found

    def constant(self, value):
        """A literal; a large array of equal elements is one number, repeated."""
        value = np.asarray(value)
        if value.dtype not in DTYPES:
            raise errors.DTypeError(refuse_dtype(value.dtype), errors.here())
        pos = errors.here()
        if value.size > 1 and (is_repeated(value) or _is_one_number(value)):
            scalar = self.tracer.constant(np.array(value.flat[0]), pos)
            handle = self.tracer.op("broadcast", {"shape": list(value.shape), "axes": []}, [scalar], pos)
        else:
            handle = self.tracer.constant(np.array(value, order="C"), pos)
        self.derived[handle] = frozenset()
        self.origin[handle] = (None, value, ())
        return handle

    def same(self, a, b):
        """Whether two handles are one value: the same expression of the same handles."""
        waiting, seen = [(a, b)], set()
        while waiting:
            pair = waiting.pop()
            if pair[0] == pair[1] or pair in seen:
                continue
            seen.add(pair)
            (row, attrs, args), (other, others, rest) = (self.origin.get(handle, (handle, None, ())) for handle in pair)
            if row is None and other is None:
                if attrs.dtype != others.dtype or attrs.shape != others.shape or attrs.tobytes() != others.tobytes():
                    return False
            elif row is None or other is None or row != other or attrs != others or len(args) != len(rest):
                return False
            waiting += zip(args, rest)
        return True


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
