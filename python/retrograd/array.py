"""The traced array: a mutable box around a value of the Program, with NumPy's meaning of views, scalars and promotion.

An Array is a *root* (it owns its value) or a *view* (a link to its parent; reads and writes go through to the root, so aliases agree).
A root is *concrete* while its elements are known in Python: then NumPy itself computes with them, and `int`, `float`, `bool` work.
"""

import functools
import math
import operator

import numpy as np

from . import errors
from .layout import allocated, compact, shadow_of
from .maybe import present, present_in
from .trace import DTYPES, NUMPY, Retry, current, refuse_dtype
from .views import Reshape, reshape


class Symbol:
    """An integer of the Program as `symbol + offset`, with known bounds: decides slice lengths and signs of indices."""

    def __init__(self, low=None, high=None):
        self.low = low
        self.high = high


class Array:
    """A traced NumPy array or scalar. Functions of the user see it in place of `np.ndarray`."""

    __slots__ = (
        "shape", "dtype", "_shadow", "_scalar", "_parent", "_link", "_frame", "_value", "_const", "_poison", "_version", "_cache",
        "_outer", "_symbol", "_offset", "_entangled", "_choice", "_boxes", "_weak", "_changes", "_bounds", "_growth", "__weakref__",
    )
    __array_priority__ = 1000

    def __init__(self, shape, dtype, scalar=False, shadow=None):
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self._scalar = scalar
        self._shadow = shadow
        self._parent = self._link = self._value = self._const = self._poison = self._cache = self._outer = self._symbol = None
        self._entangled = self._bounds = self._growth = None
        self._choice = self._boxes = None  # of a root: what it may be; what may be this one
        self._weak = False  # stands for a Python number, whose type gives way to that of an array
        self._offset = 0
        self._version = 0  # of its handle, for what is read from it
        self._changes = 0
        trace = current()
        self._frame = trace.frame
        if trace.undecided is not None:
            trace.undecided.made.add(id(self))

    # What it is made of

    def root(self):
        array = self
        while array._parent is not None:
            array = array._parent
        return array

    def handle(self):
        """The value of the Program that this array is now."""
        trace = current()
        if trace is None:
            raise errors.Unsupported("a traced array was kept after its function had been traced", errors.here())
        root = self.root()
        self._check_readable(root)
        if root._frame.mark is not trace.mark:
            known = self.payload()
            return trace.take(self) if known is None else trace.constant(known)
        if root._frame is not trace.frame and not root._scalar and root._outer is None:
            trace.enter(root)
        cache = self._cache
        if cache is not None and cache[0] == root._version and cache[1].open:
            return cache[2]
        if self._parent is not None:
            handle = self._link.read(trace, self._parent.handle(), self.shape)
        elif self._const is not None:
            handle = trace.constant(self._const)
        else:
            return self._value
        self._cache = (root._version, trace.frame, handle)
        return handle

    def payload(self):
        """The elements, where they are known in Python; else None."""
        root = self.root()
        if root._const is None:
            return None
        self._check_readable(root)
        trace = current()
        if trace is not None and root._frame is not trace.frame and root._frame.mark is trace.mark and root._outer is None:
            trace.enter(root)
            if root._const is None:
                return None
        if self._parent is None:
            return self._const
        parent = self._parent.payload()
        if parent is None:
            return None
        static = getattr(self._link, "is_static", lambda: True)()
        return self._link.view(parent) if static else None

    def own_payload(self):
        """The elements, where they may be written: one number that was repeated has memory from here on."""
        root = self.root()
        if not root._const.flags.writeable:
            root._const = allocated(root._const, root._shadow)
        return self.payload()

    def set(self, handle):
        """Becomes another value of the same type, in place: through views, and seen by all aliases."""
        self.become(handle)
        root = self.root()
        if root._choice is not None or root._boxes:
            from . import chosen

            chosen.written(root)

    def become(self, handle):
        """The same without those that may be this one, or that this one may be."""
        self.check_writable()
        if self._parent is not None:
            self._parent.become(self._link.write(current(), self._parent.handle(), handle))
            return
        self.changes()
        self._value, self._const = handle, None

    def changes(self):
        """Notes that this root changes now; arrays that may or may not share its memory are not known from here on."""
        current().decide("an in-place change of an array", self)
        current().claim(self)
        self._log()
        for other, loop in (self._entangled or {}).items():
            if other._poison is None and other._frame.open:
                file, line = errors.here()
                if loop is not None:
                    current().exchanged[id(other)] = (other, loop.note(), loop.known)
                for root in (other, *other.related()):
                    if root is not self and root._poison is None:
                        root.poison(f"this array may share memory with one that is changed at line {line}; copy it before with .copy()")

    def related(self):
        """The roots whose memory this one shares where a condition holds."""
        if self._choice is None and not self._boxes:
            return []
        from . import chosen

        return chosen.related(self)

    def _log(self):
        """Every open body inside the one that made this root restores it when it is traced again."""
        state = self.state()
        for frame in reversed(current().frames):
            if frame is self._frame:
                break
            # Around a loop that carries it, it was what it was before that loop.
            state = frame.mutated.setdefault(self, state)
        self._version += 1
        self._changes += 1

    def state(self):
        return (self._value, self._const, self._poison)

    def restore(self, state):
        self._value, self._const, self._poison = state
        self._version += 1

    def poison(self, message):
        """From now on its elements are not known under this name; reading it is an error."""
        self._log()
        self._poison = message

    def _check_readable(self, root):
        if root._poison is not None:
            current().unroll_exchange(root)
            raise errors.Unsupported(root._poison, errors.here())
        if not root._frame.open:
            raise errors.Unsupported("a value that was made inside a loop is used outside of it", errors.here())

    def check_writable(self):
        root = self.root()
        if root._frame.mark is not current().mark:
            raise errors.Unsupported("in-place change of an array of the function around this one; copy it first with .copy()", errors.here())
        if root._outer is not None:
            raise errors.Unsupported(
                f"in-place change of {root._outer}, which is not local to the function; copy it first: np.array({root._outer})", errors.here()
            )

    # NumPy's attributes

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def T(self):
        return np.transpose(self)

    @property
    def real(self):
        return self

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(self.shape[0]))

    def __repr__(self):
        kind = "traced" if self.root()._const is None else "local"
        return f"<{kind} {'scalar' if self._scalar else 'array'} {describe(self)}>"

    def __str__(self):
        return str(self._concrete("a string", "print it as it is, or in an f-string"))

    def __format__(self, spec):
        return format(self._concrete("a string", "print it as it is, or in an f-string"), spec)

    def __getitem__(self, index):
        from . import indexing

        return indexing.load(self, index)

    def __setitem__(self, index, value):
        from . import indexing

        indexing.store(self, index, value)

    # What needs the elements in Python

    def _concrete(self, what, instead):
        payload = self.payload()
        if payload is None:
            demand(self)
            raise errors.Unsupported(f"{what} of a traced value: its elements are not known before the program runs; {instead}", errors.here())
        return payload

    def __bool__(self):
        return bool(self._concrete("the truth (if, while, and, or, not, assert)", "use np.where or np.logical_and/or/not"))

    def __float__(self):
        return float(self._concrete("float()", "leave out float(), or use np.* instead of math.*"))

    def __int__(self):
        return int(self._concrete("int()", "round it outside of the function and pass it as an argument"))

    def __hash__(self):
        # A number is a key by its value; only the tracer has arrays as keys, and means the objects.
        if not self._scalar:
            return object.__hash__(self)
        return hash(self._concrete("use as a key (of a dict or a set)", "take it from a shape, or from a variable of the enclosing scope").item())

    def __complex__(self):
        raise errors.Unsupported("complex numbers are not supported", errors.here())

    def __index__(self):
        what = "use as a Python integer (a shape, a list index, a count)"
        return self._concrete(what, "take it from a shape, or from a variable of the enclosing scope").__index__()

    def __array__(self, dtype=None, copy=None):
        payload = self._concrete("conversion to a NumPy array", "pass it to NumPy functions as it is")
        return np.array(payload, dtype=dtype)

    def item(self, *args):
        known = self.payload()
        if known is not None:
            return known.item(*args)
        if args:
            flat = np.ravel(self)
            return (flat[args[0]] if len(args) == 1 and not isinstance(args[0], tuple) else self[args if len(args) > 1 else args[0]]).item()
        if self.size != 1:
            raise errors.ShapeError("can only convert an array of size 1 to a Python scalar", errors.here())
        from . import builtin

        return {"f": builtin._float, "i": builtin._int, "b": builtin._bool}[self.dtype.kind](self)

    def tolist(self):
        known = self.payload()
        if known is not None:
            return known.tolist()
        from .effects import made

        return made([row.tolist() for row in self]) if self.shape else self.item()

    def __round__(self, *_):
        raise errors.Unsupported("round() of a traced value", errors.here())

    def __getattr__(self, name):
        if not name.startswith("__") and hasattr(np.ndarray, name):
            raise errors.Unsupported(f"the array method .{name} is not supported", errors.here())
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    # NumPy's protocols

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        from . import functions

        return functions.ufunc(ufunc, method, tuple(map(present, inputs)), present_in(kwargs) if kwargs else kwargs)

    def __array_function__(self, function, _types, args, kwargs):
        from . import functions

        return functions.function(function, present_in(args), present_in(kwargs))

    @property
    def mT(self):
        return np.matrix_transpose(self)

    def copy(self, order="C"):
        return np.copy(self, order=order)

    def dot(self, other, out=None):
        return np.dot(self, other, out=out)

    def reshape(self, *shape, order="C", copy=None):
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)

    def flatten(self, order="C"):
        return np.ravel(self, order=order).copy()

    def __copy__(self):
        return self if self._scalar else np.copy(self, order="K")

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        raise errors.Unsupported("a traced array has no elements that could be pickled", errors.here())

    def conj(self):
        return self

    conjugate = conj

    def view(self, dtype=None, type=None):
        if dtype is not None or type is not None:
            raise errors.Unsupported("the array method .view with another type is not supported; use .astype", errors.here())
        return self[...]

    def transpose(self, *axes):
        if not axes or axes == (None,):
            return np.transpose(self)
        return np.transpose(self, axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        from . import functions

        return functions.astype(self, dtype, order, casting, copy)

    def fill(self, value):
        self[...] = value


# Python's operators, and the ufuncs that they are.
OPERATORS = {
    "binary": {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide,
        "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
        "lshift": np.left_shift, "rshift": np.right_shift,
    },
    "compare": {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal},
    "unary": {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert},
}


def _methods():
    """Operators and methods that are the NumPy function of that name."""
    for name, ufunc in OPERATORS["binary"].items():
        setattr(Array, f"__{name}__", lambda a, b, ufunc=ufunc, name=name: _operated(name, ufunc, a, b))
        setattr(Array, f"__r{name}__", lambda a, b, ufunc=ufunc, name=name: _operated(name, ufunc, b, a))
        setattr(Array, f"__i{name}__", lambda a, b, u=ufunc, name=name: inplace(claimed(a), _operated(name, u, a, b)))
    for name, ufunc in OPERATORS["compare"].items():
        setattr(Array, f"__{name}__", lambda a, b, ufunc=ufunc: _python(ufunc(a, b), a, b))
    for name, ufunc in OPERATORS["unary"].items():
        setattr(Array, f"__{name}__", lambda a, ufunc=ufunc, name=name: _operated(name, ufunc, a))
    for name in ("sum", "mean", "ravel", "squeeze", "swapaxes", "trace"):
        function = getattr(np, name)
        setattr(Array, name, lambda a, *args, function=function, **kwargs: function(a, *args, **kwargs))


class Either:
    """Of a number that is Python's on one way through the function and NumPy's on another, where `_weak` stands: it is as false as that of NumPy's.
    What is the same for both goes on; what depends on it needs the first step of the loop that carries it by itself, or is refused."""

    __slots__ = ("loop",)

    def __init__(self, loop=None):
        self.loop = loop

    def __bool__(self):
        return False

    def __eq__(self, other):
        return isinstance(other, Either)

    def __hash__(self):
        return hash(Either)

    def refuse(self):
        loop = self.loop
        if loop is not None and loop.known is not None and loop.frame in current().frames and not loop.note().peeled:
            loop.note().peeled = 1
            raise Retry(loop)
        raise errors.DTypeError(
            "a number here is Python's on one way through the function and NumPy's on another, and what this means depends on it; convert it before, with float() or np.float64()",
            errors.here(),
        )


def is_weak(value):
    """Whether a value is a Python number, or stands for one: its type gives way to that of an array (NEP 50)."""
    return value._weak if isinstance(value, Array) else type(value) in (bool, int, float)


def kind_of_all(values, loop=None):
    """Whose number what is one of several is: Python's (True), NumPy's (False), or that of either."""
    kinds = [is_weak(value) for value in values]
    either = next((kind for kind in kinds if isinstance(kind, Either)), None)
    return all(kinds) if either is None and len(set(kinds)) == 1 else either or Either(loop)


# Operators of Python's own numbers, by name: `scalars` fills it.
PYTHON = {}


def _operated(name, ufunc, *operands):
    """The result of an operator: between Python's numbers it is Python's, else NumPy's."""
    kinds = [value._weak if isinstance(value, Array) else type(value) in (bool, int, float) for value in operands]
    if name in PYTHON and all(kinds):
        return PYTHON[name](*operands)
    if name in PYTHON and False not in [isinstance(kind, Either) or kind for kind in kinds]:
        either = next(kind for kind in kinds if isinstance(kind, Either))
        if all(value.dtype.kind == "b" if isinstance(value, Array) else isinstance(value, bool) for value in operands) and name not in ("and", "or", "xor"):
            either.refuse()
        result_dtype(*operands)
        result = PYTHON[name](*operands)
        if isinstance(result, Array):
            result._weak = either
        return result
    return ufunc(*operands)


def _python(result, *operands):
    """The result of a comparison; between Python numbers it is one of Python's bools."""
    if isinstance(result, Array) and not result.shape:
        kinds = [is_weak(value) for value in operands]
        either = next((kind for kind in kinds if isinstance(kind, Either)), None)
        result._weak = all(kinds) if either is None else either if False not in [isinstance(kind, Either) or kind for kind in kinds] else False
    return result


_NUMBER = {"b": False, "i": 0, "f": 0.0}
_FLOAT = np.dtype(np.float64)


def result_dtype(*values):
    """The element type that values have together, by NumPy's rules."""
    kinds = tuple(map(_dtype_of, values))
    for value, dtype in zip(values, kinds):
        if dtype not in DTYPES:
            lift(value, "an operand")  # refuses it by name
    weak = tuple(map(is_weak, values))
    found = _together(kinds, tuple(map(bool, weak)))
    for k, kind in enumerate(weak):
        if isinstance(kind, Either):
            as_python = [_NUMBER[dtype.kind] if other or k == at else dtype for at, (other, dtype) in enumerate(zip(weak, kinds))]
            if DTYPES[np.result_type(*as_python)] != found:
                kind.refuse()
    return found


def _dtype_of(value):
    return value.dtype if isinstance(value, Array) else _FLOAT if type(value) is float else np.asarray(value).dtype


@functools.lru_cache(1024)
def _together(kinds, weak):
    """The element type of values of these types, some of them Python's numbers."""
    return DTYPES[np.result_type(*[_NUMBER[dtype.kind] if kind else dtype for kind, dtype in zip(weak, kinds)])]


def index_of(value):
    """Integers as indices or a count: int64; those that are known in Python stay as they are."""
    if not isinstance(value, Array) or value.dtype != np.int32 or value.payload() is not None:
        return value
    trace = current()
    result = traced(trace.op("convert", [value.handle()], dtype="i64"), weak=value._weak)
    result._symbol, result._offset = affine(value)
    return result


def inplace(array, result):
    """`array += …`: NumPy scalars are rebound, arrays change in place and keep their shape and element type."""
    if array._scalar:
        return result
    check_inplace(array, result)
    array[...] = result
    return array


def claimed(array):
    """An array that is read to be changed: loops around carry it before it is read, else they are traced again."""
    root, trace = array.root(), current()
    ours = trace is not None and root._frame.mark is trace.mark and root._frame.open
    if ours and not array._scalar and root._poison is None:
        trace.claim(root)
    return array


def check_inplace(array, result):
    """An array does not grow in place."""
    if np.shape(result) != array.shape:
        found = f"non-broadcastable output operand with shape {array.shape} doesn't match the broadcast shape {np.shape(result)}"
        raise errors.ShapeError(found, errors.here())


def describe(array):
    """`f64[3,4]`, as in messages of the compiler."""
    axes = ",".join(map(str, array.shape))
    return DTYPES.get(array.dtype, str(array.dtype)) + (f"[{axes}]" if array.shape else "")


def traced(handle, scalar=None, ordered=True, weak=False):
    """A new root with this value. Results of rank 0 are scalars, as in NumPy; `ordered` is how NumPy's result lies in memory: row-major (True), as a
    shadow says, or not known (False, None)."""
    dtype, shape = current().type(handle)
    array = Array(shape, NUMPY[dtype], scalar=not shape if scalar is None else scalar)
    if isinstance(ordered, np.ndarray):
        array._shadow = ordered
    else:
        array._shadow = shadow_of(array.shape) if ordered or not shape else None
    array._value = handle
    array._weak = weak
    return array


def local(elements):
    """A concrete root with a copy of these elements; scalars stay as they are, other element types stay NumPy's."""
    if not isinstance(elements, np.ndarray) or elements.dtype not in DTYPES:
        return elements
    if type(elements) not in (np.ndarray, np.memmap):
        # Its operators are not those of arrays: a mask would be lost, and `*` of matrices is no product of elements.
        raise errors.Unsupported(f"a {type(elements).__name__} is not supported: its operators are not those of arrays; use an array", errors.here())
    array = Array(elements.shape, elements.dtype, shadow=compact(elements.shape, np.empty_like(elements)))
    array._const = np.array(elements, order="K")
    return array


def repeated(number, shape, dtype=None, shadow=None):
    """A concrete root, all of whose elements are one number; it takes memory when some of them are written, and lies there as a shadow says."""
    extents = shape if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    extents = [operator.index(extent) for extent in extents]
    if math.prod(extents) >= 2**60:
        raise errors.ShapeError(f"an array of shape {tuple(extents)} has more elements than memory can hold", errors.here())
    elements = np.broadcast_to(np.asarray(number, dtype), extents)
    if elements.ndim and elements.dtype.kind in "iuf" and elements.dtype not in DTYPES and elements.dtype.itemsize <= 8:
        from . import narrow

        return narrow.known(np.array(elements))
    if elements.ndim == 0 or np.ndim(number) or elements.dtype not in DTYPES:
        return local(np.array(elements))
    array = Array(elements.shape, elements.dtype, shadow=shadow_of(elements.shape) if shadow is None else shadow)
    array._const = elements
    return array


def demand(array):
    """Traces again with this value known, where it follows from indices of loops, integer arguments and outer values alone."""
    trace = current()
    if trace is None or array.root()._poison is not None:
        return
    sources = trace.derived.get(array.handle())
    if sources:
        demand_all(sources)


def demand_each(values):
    """The same for all arrays in arguments together."""
    trace, found, todo = current(), [], list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, Array):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
    found = [value for value in found if value.payload() is None]
    if trace is None or any(value.root()._poison is not None for value in found):
        return
    sources = [trace.derived.get(value.handle()) for value in found]
    if found and None not in sources and any(sources):
        sources = frozenset().union(*sources)
        if all(source.is_beside() for source in sources):
            demand_all(sources)


def demand_outer(array):
    """The same where it follows from arguments and outer values alone: no loop is unrolled for it."""
    sources = current().derived.get(array.handle())
    if sources and all(source.depth() < 0 and source.is_number() for source in sources):
        demand_all(sources)


def demand_all(sources):
    """Traces again, from the outermost loop or function that these are known in."""
    outermost = min(sources, key=lambda source: source.depth())
    for source in sources:
        source.demand()
    raise Retry(outermost.loop())


def view(parent, link):
    """A view of an array; of a scalar, a new scalar, or a new array."""
    shadow = link.view(parent._shadow if parent._shadow is not None else shadow_of(parent.shape))
    if parent._scalar and shadow.shape:
        known = parent.payload()
        parent = traced(parent.handle(), scalar=False) if known is None else local(np.array(known))
    array = Array(shadow.shape, parent.dtype, shadow=None if parent._shadow is None else shadow)
    array._parent, array._link = parent, link
    return array


def reshaped(array, shape, copy=None):
    """NumPy's reshape: a view where strides allow it, else a copy; where the strides are not known, something in between."""
    try:
        shape = shadow_of(array.shape).reshape(shape).shape
    except ValueError as error:
        raise errors.ShapeError(str(error), errors.here()) from None
    if copy:
        return frozen_copy(array, shape, ambiguous=False)
    if array._shadow is None:
        if copy is False:
            raise errors.Unsupported("a reshape with copy=False of an array whose order in memory is not known", errors.here())
        return frozen_copy(array, shape, ambiguous=True)
    try:
        np.reshape(array._shadow, shape, copy=False)
    except ValueError as error:
        if copy is False:
            raise errors.ShapeError(str(error), errors.here()) from None
        return frozen_copy(array, shape, ambiguous=False)
    return view(array, Reshape(shape))


def frozen_copy(array, shape, ambiguous):
    """A new root with the elements in another shape, row-major."""
    payload = array.payload()
    if payload is not None:
        result = local(np.array(payload.reshape(shape), order="C"))
    else:
        trace = current()
        result = traced(reshape(trace, array.handle(), shape), scalar=False)
    if ambiguous:
        entangle(result, array.root())
    return result


def entangle(a, b, loop=None):
    """Two roots that may or may not share memory, which is known where a loop is unrolled: a change of one makes the other unknown."""
    if a._scalar or b._scalar:
        return  # numbers have no memory
    for one, other in ((a, b), (b, a)):
        one._entangled = {**(one._entangled or {}), other: loop}


# Packages whose arrays have functions that differ from NumPy's of the same name, such as `std`.
_WITH_MEANING = ("pandas", "torch", "xarray", "polars")


def refuse_foreign(value):
    """Refuses arrays of such packages among traced ones."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if package in _WITH_MEANING:
        raise errors.Unsupported(f"a {package} {kind.__name__} among traced values, where its operators mean something else than NumPy's; use np.asarray of it", errors.here())


def lift(value, what="value"):
    """(handle, element type, shape) of anything that can be an operand."""
    value = present(value)
    if isinstance(value, Array):
        return value.handle()
    refuse_foreign(value)
    elements = np.asarray(value)
    if elements.dtype not in DTYPES:
        raise errors.DTypeError(f"{what}: {refuse_dtype(elements.dtype)}" if elements.dtype != object else f"{what} of type {type(value).__name__} is not supported", errors.here())
    return current().constant(elements)


def affine(value):
    """(symbol, offset) of an integer; the symbol of a Python integer is None."""
    if isinstance(value, Array):
        if value._symbol is None:
            value._symbol = Symbol()
        return value._symbol, value._offset
    return None, int(value)


def multiple(symbol, offset, factor):
    """The symbol of `(symbol + offset) * factor`."""
    known = current().multiples
    if (symbol, offset, factor) not in known:
        ends = [None if end is None or abs((end + offset) * factor) >= 2**62 else (end + offset) * factor for end in (symbol.low, symbol.high)]
        known[symbol, offset, factor] = Symbol(*(ends if factor >= 0 else reversed(ends)))
    return known[symbol, offset, factor]


_methods()
