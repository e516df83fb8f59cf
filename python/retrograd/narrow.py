"""Unsigned, 8- and 16-bit integers and float16: computed in int32, int64 or float32, and wrapped or rounded after every operation as NumPy does.

A `Narrow` is no `Array`: what does not know of it refuses it by name, so nothing is computed in the wrong element type.
"""

import numpy as np

from . import errors
from .array import OPERATORS, Array, is_weak, lift, local, traced
from .rules import name_of

CARRIERS = {
    np.dtype(np.int8): np.dtype(np.int32), np.dtype(np.uint8): np.dtype(np.int32), np.dtype(np.int16): np.dtype(np.int32), np.dtype(np.uint16): np.dtype(np.int32),
    np.dtype(np.uint32): np.dtype(np.int64), np.dtype(np.uint64): np.dtype(np.int64), np.dtype(np.float16): np.dtype(np.float32),
}
# One step after the other is rounded to float16 in these, which a wider total does not show.
_STEPWISE = {np.prod, np.cumsum, np.cumprod, np.var, np.std, np.trapezoid, np.convolve, np.correlate, np.average}


class Narrow:
    """An array of an element type that the compiler has not; `carrier` holds its numbers in a wider one."""

    __array_priority__ = 3000
    in_place = True  # assignments act on the array behind it

    def __init__(self, carrier, dtype):
        self.carrier, self.dtype = carrier, np.dtype(dtype)

    shape = property(lambda self: self.carrier.shape)
    ndim = property(lambda self: self.carrier.ndim)
    size = property(lambda self: self.carrier.size)
    T = property(lambda self: Narrow(self.carrier.T, self.dtype))

    def __len__(self):
        return len(self.carrier)

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index):
        return Narrow(_array(self.carrier[_plain_index(index)]), self.dtype)

    def __setitem__(self, index, value):
        if not np.can_cast(_dtype(value), self.dtype, "unsafe" if self.dtype.kind == "f" or _dtype(value).kind != "f" else "same_kind"):
            raise errors.DTypeError(f"assigning {_dtype(value)} into an {self.dtype} array would drop fractions", errors.here())
        self.carrier[_plain_index(index)] = cast(value, self.dtype).carrier

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        if not np.can_cast(self.dtype, dtype, casting):
            raise errors.DTypeError(f".astype: {self.dtype} cannot become {np.dtype(dtype)} with casting={casting!r}", errors.here())
        return cast(self, np.dtype(dtype))

    def copy(self, order="C"):
        return Narrow(self.carrier.copy(order), self.dtype)

    def reshape(self, *shape, order="C"):
        return Narrow(self.carrier.reshape(*shape, order=order), self.dtype)

    def item(self, *args):
        return self.carrier.item(*args)

    def __index__(self):
        return self.carrier.__index__()

    def __array__(self, *_, **__):
        raise errors.Unsupported(f"{self.dtype} here is not supported; convert it with .astype", errors.here())

    def __array_ufunc__(self, called, method, *inputs, **kwargs):
        return ufunc(called, method, inputs, kwargs)

    def __array_function__(self, called, _types, args, kwargs):
        return function(called, args, kwargs)

    def __getattr__(self, name):
        if not name.startswith("_") and hasattr(np.ndarray, name) and callable(getattr(np, name, None)):
            return lambda *args, **kwargs: getattr(np, name)(self, *args, **kwargs)
        if not name.startswith("__") and hasattr(np.ndarray, name):
            raise errors.Unsupported(f".{name} of an array of {self.dtype} is not supported; convert it with .astype", errors.here())
        raise AttributeError(f"'retrograd.Narrow' object has no attribute '{name}'")


def _inplace(called):
    def rule(a, b):
        result = called(a, b)
        if a.carrier._scalar:
            return result
        if not np.can_cast(result.dtype, a.dtype, "same_kind"):
            raise errors.DTypeError(f"{name_of(called)}: a result of {result.dtype} cannot be stored in place in {a.dtype}", errors.here())
        a[...] = result
        return a

    return rule


def _operators():
    for name, called in OPERATORS["binary"].items():
        setattr(Narrow, f"__{name}__", lambda a, b, called=called: called(a, b))
        setattr(Narrow, f"__r{name}__", lambda a, b, called=called: called(b, a))
        setattr(Narrow, f"__i{name}__", _inplace(called))
    for name, called in OPERATORS["compare"].items():
        setattr(Narrow, f"__{name}__", lambda a, b, called=called: called(a, b))
    Narrow.__hash__ = lambda a: hash(a.carrier)
    for name, called in OPERATORS["unary"].items():
        setattr(Narrow, f"__{name}__", lambda a, called=called: called(a))


_operators()


def is_narrow(value):
    """Whether a value has one of these element types: as an operand of what is traced, or in NumPy itself."""
    return isinstance(value, Narrow) or isinstance(value, (np.ndarray, np.generic)) and value.dtype in CARRIERS


def has_narrow(values):
    return any(is_narrow(value) for value in values)


def _array(value):
    return value if isinstance(value, Array) else traced(lift(value)) if not np.ndim(value) else local(np.asarray(value))


def _dtype(value):
    return value.dtype if isinstance(value, (Array, Narrow)) else np.asarray(value).dtype


def _plain_index(index):
    if isinstance(index, tuple):
        return tuple(map(_plain_index, index))
    return index.carrier if isinstance(index, Narrow) else index.astype(np.int64) if isinstance(index, np.ndarray) and index.dtype in CARRIERS else index


def _carried(value):
    """A value in a type that the compiler has."""
    if isinstance(value, Narrow):
        return value.carrier
    return value.astype(CARRIERS[value.dtype]) if is_narrow(value) else value


def cast(value, dtype):
    """A value in another element type, by NumPy's rules of conversion."""
    carried = _array(_carried(value))
    if dtype not in CARRIERS:
        return carried.astype(dtype)
    if isinstance(value, Narrow) and value.dtype == dtype:
        return value
    return Narrow(_wrapped(carried, dtype), dtype)


def known(elements):
    """An array whose elements are known, and may change in place."""
    return Narrow(local(elements.astype(CARRIERS[elements.dtype])), elements.dtype) if elements.ndim and not _is_large(elements) else elements


def _is_large(elements):
    """Whether there are numbers that what carries them has not."""
    return elements.dtype == np.uint64 and bool(np.any(elements >= 2**63))


def _wrapped(x, dtype):
    """Numbers as an element type has them: integers modulo their width, floats rounded."""
    if dtype.kind == "f":
        return _rounded(x.astype(np.float32))
    x = np.trunc(x).astype(np.int64) if x.dtype.kind == "f" else x.astype(CARRIERS[dtype]) if x.dtype.kind == "b" or dtype.itemsize > 2 else x
    if dtype == np.uint64:
        from . import custom

        # Sums and products are right modulo 2**64, so that a number from 2**63 on is negative here.
        custom.check(np.all(x >= 0), "uint64 beyond 2**63 is not supported", OverflowError)
        return x
    mask, half = 2 ** (8 * dtype.itemsize) - 1, 2 ** (8 * dtype.itemsize - 1)
    found = x & mask if dtype.kind == "u" else ((x + half) & mask) - half
    return found.astype(CARRIERS[dtype])


def _rounded(x):
    """float32 to the nearest float16, ties to even; the derivative is that of no rounding."""
    from .custom import stop_gradient

    still = stop_gradient(x)
    size = np.abs(still)
    # Eleven bits remain of the 24 (Dekker 1971); below the least normal number all have one spacing.
    scaled = still * np.float32(8193)
    usual = scaled - (scaled - still)
    small = (still + np.copysign(np.float32(0.75), still)) - np.copysign(np.float32(0.75), still)
    found = np.where(size < np.float32(2.0**-14), small, np.where(size < np.float32(2.0**16), usual, still))
    found = np.where(np.abs(found) > np.float32(65504), np.copysign(np.float32(np.inf), still), found)
    found = np.copysign(found, still)
    return np.where(np.isfinite(found), x + (found - still), found)


def ufunc(called, method, inputs, kwargs):
    """The loop that NumPy takes for these element types, in wider ones; then its result as NumPy has it."""
    if method == "reduce" and called in (np.add, np.maximum, np.minimum, np.multiply):
        return function({np.add: np.sum, np.maximum: np.max, np.minimum: np.min, np.multiply: np.prod}[called], inputs, {"axis": 0, **kwargs})
    if method != "__call__" or set(kwargs) - {"dtype"}:
        raise errors.Unsupported(f"{name_of(called)}.{method} with these arguments, of 8- and 16-bit or unsigned numbers, is not supported; convert them with .astype", errors.here())
    given = [type(_number(value)) if is_weak(value) and type(_number(value)) is not bool else _dtype(value) for value in inputs]
    try:
        loop = called.resolve_dtypes((*given, *[None] * called.nout), **({"signature": (None,) * called.nin + (np.dtype(kwargs["dtype"]),)} if kwargs.get("dtype") else {}))
    except TypeError as error:
        raise errors.DTypeError(f"{name_of(called)}: {error}", errors.here()) from None
    operands = [_operand(value, dtype) for value, dtype in zip(inputs, loop)]
    results = called(*operands)
    results = results if isinstance(results, tuple) else (results,)
    found = tuple(cast(result, dtype) for result, dtype in zip(results, loop[called.nin :]))
    return found if called.nout > 1 else found[0]


def _number(value):
    """A Python number of the kind that a weak value is."""
    return {"b": True, "i": 1, "f": 1.0}[value.dtype.kind] if isinstance(value, Array) else value


def _operand(value, dtype):
    """An operand of a loop, in the type that carries it."""
    if not isinstance(value, (Array, Narrow)) and is_weak(value):
        try:
            return CARRIERS.get(dtype, dtype).type(dtype.type(value))
        except OverflowError as error:
            raise errors.DTypeError(str(error), errors.here()) from None
    found = cast(value, dtype)
    return found.carrier if isinstance(found, Narrow) else found


def function(called, args, kwargs):
    """A function of the table in wider types; NumPy says, of zeros, which element types its results have."""
    if called in _STEPWISE and any(_dtype(value) == np.float16 for value in args if is_narrow(value)):
        raise errors.Unsupported(f"{name_of(called)} of float16 rounds after every step, which is not supported; convert it with .astype", errors.here())
    sample = lambda value: np.broadcast_to(np.zeros((), value.dtype), value.shape) if isinstance(value, (Array, Narrow)) else [sample(item) for item in value] if isinstance(value, (list, tuple)) and not _is_plain(value) else value
    try:
        with np.errstate(all="ignore"):
            expected = called(*map(sample, args), **{key: sample(value) for key, value in kwargs.items() if value is not np._NoValue})
    except Exception as error:
        raise errors.Unsupported(f"{name_of(called)} of 8- and 16-bit or unsigned numbers like this is not supported ({error}); convert them with .astype", errors.here()) from None
    carry = lambda value: [carry(item) for item in value] if isinstance(value, (list, tuple)) and not _is_plain(value) else _carried(value)
    result = called(*map(carry, args), **{key: carry(value) for key, value in kwargs.items()})
    return _as_expected(result, expected)


def _is_plain(value):
    return all(isinstance(item, (int, float, str, slice, type(None))) for item in value)


def _as_expected(result, expected):
    if isinstance(expected, (tuple, list)):
        return type(result)(_as_expected(a, b) for a, b in zip(result, expected))
    dtype = getattr(expected, "dtype", None)
    if dtype is None or not isinstance(result, (Array, np.ndarray, np.generic)):
        return result
    if dtype in CARRIERS and CARRIERS[dtype] == result.dtype and isinstance(result, Array) and result._parent is not None:
        # A view of the same numbers.
        return Narrow(result, dtype)
    return cast(result, dtype)
