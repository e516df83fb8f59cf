"""`np.linalg`, `np.einsum` and products on traced arrays: a table from each to what it becomes."""

import collections
import string
from typing import Any

import numpy as np

from . import errors, functions, spectral, views
from .array import entangle, traced
from .rules import implements
from .spectral import eigh, polar, svd
from .trace import DTYPES, current

__all__ = ["eigh", "lu", "polar", "svd", "triangular_solve"]

QRResult = collections.namedtuple("QRResult", ("Q", "R"))
SlogdetResult = collections.namedtuple("SlogdetResult", ("sign", "logabsdet"))


def triangular_solve(a: Any, b: Any, lower: bool = True, trans: bool = False, unit_diagonal: bool = False) -> Any:
    """x with T x = b, where T is the lower or upper triangle of `a`, or its transpose; nothing else of `a` is read.

    Batches broadcast as in `np.linalg.solve`. With `unit_diagonal` T has ones on its diagonal, whatever `a` has there.
    """
    if not functions._arrays((a, b)):
        triangle = (np.tril if lower else np.triu)(a)
        if unit_diagonal:
            diagonal = np.eye(triangle.shape[-1], dtype=bool)
            triangle = np.where(diagonal, 1.0, triangle)
        return np.linalg.solve(np.swapaxes(triangle, -1, -2) if trans else triangle, b)
    return _system("triangular_solve", a, b, lower=[int(lower)], transpose=[int(trans)], unit=[int(unit_diagonal)])


def lu(a: Any) -> tuple[Any, Any]:
    """The packed factors of `a`, L below the diagonal and U on and above it, by partial pivoting, and which row of `a` is row i of L U.

    As `jax.lax.linalg.lu` without its exchanges of rows. Axes before the last two are batches.
    """
    if not functions._arrays((a,)):
        return _known_lu(np.array(a, dtype=np.result_type(a, np.float32)))
    return _matrix("lu", a), _matrix("lu_permutation", a)


def _known_lu(a):
    """Of numbers, of which `a` is a copy: NumPy has no such function."""
    *batch, n = a.shape[:-1]
    rows = np.tile(np.arange(n), (*batch, 1))
    for at in np.ndindex(*batch):
        factors, order = a[at], rows[at]
        for k in range(n):
            best = k + int(np.argmax(np.abs(factors[k:, k])))
            factors[[k, best]], order[[k, best]] = factors[[best, k]], order[[best, k]]
            if factors[k, k]:
                factors[k + 1 :, k] /= factors[k, k]
                factors[k + 1 :, k + 1 :] -= np.outer(factors[k + 1 :, k], factors[k, k + 1 :])
    return a, rows


# np.linalg


_FAILURES = {"cholesky": "Matrix is not positive definite", "solve": "Singular matrix", "inverse": "Singular matrix"}


def _attempted(row, a):
    """The matrices; inside a `try` that catches what has no answer, the identity for those that have none."""
    trace = current()
    attempt = trace.attempt_at(np.linalg.LinAlgError) if row in _FAILURES else None
    if attempt is None:
        trace.risk(np.linalg.LinAlgError) if row in _FAILURES else None
        return a
    a = 1.0 * functions._as_array(a) if functions._as_array(a).dtype.kind != "f" else functions._as_array(a)
    if row == "cholesky":
        last = traced(trace.op("cholesky", [a.handle()]))[..., -1, -1]
        fine = last == last
    else:
        fine = traced(trace.op("det_sign", [a.handle()])) != 0
    attempt.require(np.all(fine), np.linalg.LinAlgError, _FAILURES[row])
    return np.where(np.expand_dims(fine, (-1, -2)), a, np.eye(a.shape[-1]))


def _matrix(row, a):
    trace = current()
    a = _attempted(row, a)
    return traced(trace.tracer.of_matrices(row, functions._as_array(a).handle(), errors.here()))


def _system(row, a, b, **attrs):
    trace = current()
    a = _attempted(row, a)
    arrays = [functions._as_array(x) for x in (a, b)]
    dtype = functions._floating(functions._common(*arrays))
    handles = [views.convert(trace, x.handle(), dtype) for x in arrays]
    return traced(trace.tracer.of_systems(row, attrs, *handles, errors.here()))


def _cholesky(a, *, upper=False):
    """NumPy's reads one triangle, too."""
    if not upper:
        return _matrix("cholesky", a)
    return np.swapaxes(_matrix("cholesky", np.swapaxes(a, -1, -2)), -1, -2)


def _slogdet(a):
    return SlogdetResult(_matrix("det_sign", a), _matrix("logdet", a))


def _qr(a, mode="reduced"):
    if mode not in ("reduced", "r"):
        raise errors.Unsupported(f"np.linalg.qr with mode={mode!r} is not supported; 'reduced' and 'r' are", errors.here())
    a = functions._as_array(a)
    m, n = a.shape[-2:]
    q, r = _tall(a if m >= n else a[..., :m])
    if m < n:
        # The other columns of R follow from Q.
        r = np.concatenate([r, np.swapaxes(q, -1, -2) @ a[..., m:]], axis=-1)
    return r if mode == "r" else QRResult(q, r)


def _tall(a):
    """Q and R of a matrix with as many rows as columns, or more."""
    q, r = current().tracer.qr(a.handle(), errors.here())
    return traced(q), traced(r)


def _norm(x, ord=None, axis=None, keepdims=False):
    """Of vectors all norms; of matrices those that are sums and maxima, and those of singular values."""
    x = functions._as_array(x)
    x = x if x.dtype.kind == "f" else functions.astype(x, np.float64)
    if axis is None and (ord is None or x.ndim == 1 and ord == 2 or x.ndim == 2 and ord in ("fro", "f")):
        # A root has no slope at 0, where NumPy's norm is 0.
        total = np.sqrt(np.sum(x * x))
        return np.reshape(total, (1,) * x.ndim) if keepdims else total
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(_axis(k, x, "linalg.norm") for k in axes)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2 or axes[0] == axes[1]:
        raise errors.ShapeError(f"np.linalg.norm: improper number of axes for ord={ord!r}", errors.here())
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x, ord, axes, keepdims):
    if ord in (None, 2):
        return np.sqrt(np.sum(x * x, axis=axes, keepdims=keepdims))
    if ord in (np.inf, -np.inf):
        if not x.shape[axes[0]] and ord == np.inf:
            return np.sum(np.abs(x), axis=axes, keepdims=keepdims)
        return (np.max if ord > 0 else np.min)(np.abs(x), axis=axes, keepdims=keepdims)
    if isinstance(ord, str):
        raise errors.ArgumentError(f"np.linalg.norm: invalid norm order {ord!r} for vectors", errors.here())
    if ord == 0:
        return np.sum(functions.astype(x != 0, x.dtype), axis=axes, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axes, keepdims=keepdims)
    return np.sum(np.abs(x) ** ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x, ord, axes, keepdims):
    rows, columns = axes
    kept = lambda result: np.expand_dims(result, tuple(sorted(axes))) if keepdims else result
    if ord in (None, "fro", "f"):
        return np.sqrt(np.sum(x * x, axis=axes, keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        along, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
        over -= along < over
        return kept((np.max if ord > 0 else np.min)(np.sum(np.abs(x), axis=along), axis=over))
    if ord in (2, -2, "nuc"):
        matrices = np.moveaxis(x, axes, (-2, -1))
        # The largest and the least have a derivative where they are the only ones.
        return kept(spectral.nuclear_norm(matrices) if ord == "nuc" else spectral.svdvals(matrices)[..., 0 if ord > 0 else -1])
    raise errors.ArgumentError(f"np.linalg.norm: invalid norm order {ord!r} for matrices", errors.here())


def _vector_norm_of(x, *, axis=None, keepdims=False, ord=2):
    """`np.linalg.vector_norm`: all axes are one where none is given."""
    x = functions._as_array(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(_axis(k, x, "linalg.vector_norm") for k in axes)
    rest = [k for k in range(x.ndim) if k not in axes]
    flat = np.reshape(np.transpose(x, [*rest, *axes]), [*(x.shape[k] for k in rest), -1])
    found = _norm(flat, ord, -1)
    return np.reshape(found, [1 if k in axes else extent for k, extent in enumerate(x.shape)]) if keepdims else found


def _matrix_power(a, n):
    a = functions._as_array(a)
    n = n.__index__()
    _square_axes(a, "matrix_power")
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape) + 0 * a
    if n < 0:
        a, n = np.linalg.inv(a), -n
    if n in (1, 2, 3):
        return functions.copy(a) if n == 1 else a @ a if n == 2 else a @ a @ a
    result, power = None, a
    while n:
        result = result if not n % 2 else power if result is None else result @ power
        n //= 2
        power = power @ power if n else power
    return result


def _square_axes(a, name):
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise errors.ShapeError(f"np.linalg.{name}: last 2 dimensions of the array must be square, found shape {a.shape}", errors.here())


def _multi_dot(arrays):
    """The order with the fewest multiplications, by dynamic programming."""
    arrays = [functions._as_array(x) for x in arrays]
    if len(arrays) < 2:
        raise errors.ArgumentError("Expecting at least two arrays.", errors.here())
    first, last = arrays[0].ndim == 1, arrays[-1].ndim == 1
    arrays[0] = arrays[0][None, :] if first else arrays[0]
    arrays[-1] = arrays[-1][:, None] if last else arrays[-1]
    if any(x.ndim != 2 for x in arrays):
        raise errors.ShapeError("np.linalg.multi_dot: arrays of two axes are needed, the first and the last may have one", errors.here())
    sizes = [arrays[0].shape[0], *(x.shape[1] for x in arrays)]
    cost, split = {}, {}
    for width in range(len(arrays)):
        for i in range(len(arrays) - width):
            j = i + width
            ways = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(ways) if ways else (0, i)
    made = lambda i, j: arrays[i] if i == j else np.dot(made(i, split[i, j]), made(split[i, j] + 1, j))
    result = made(0, len(arrays) - 1)
    return result[0, 0] if first and last else result[0] if first else result[:, 0] if last else result


def _tensorsolve(a, b, axes=None):
    a, b = functions._as_array(a), functions._as_array(b)
    if axes is not None:
        rest = [k for k in range(a.ndim) if k not in [_axis(axis, a, "linalg.tensorsolve") for axis in axes]]
        a = np.transpose(a, [*rest, *[_axis(axis, a, "linalg.tensorsolve") for axis in axes]])
    shape = a.shape[b.ndim :]
    n = int(np.prod(shape, dtype=np.int64))
    if a.size != n * n:
        raise errors.ShapeError("np.linalg.tensorsolve: the product of the first axes must equal that of the others", errors.here())
    return np.reshape(np.linalg.solve(np.reshape(a, (n, n)), np.ravel(b)), shape)


def _tensorinv(a, ind=2):
    a = functions._as_array(a)
    if ind <= 0:
        raise errors.ArgumentError("Invalid ind argument.", errors.here())
    n = int(np.prod(a.shape[ind:], dtype=np.int64))
    return np.reshape(np.linalg.inv(np.reshape(a, (-1, n))), a.shape[ind:] + a.shape[:ind])


# Products


def _einsum(*operands, optimize=None, dtype=None):
    """The order of products is ours, whatever `optimize` says: that with the fewest multiplications."""
    subscripts, arrays = _subscripts(operands)
    before, arrow, after = subscripts.partition("->")
    trace = current()
    if len(arrays) == 1 and arrow and sorted(before) == sorted(after) and len(set(before)) == len(before) == arrays[0].ndim and dtype is None:
        return np.transpose(arrays[0], [before.index(letter) for letter in after])
    kind = functions._stored(arrays) if dtype is None else DTYPES[np.dtype(dtype)]
    handles = [views.convert(trace, x.handle(), kind) for x in arrays]
    result = traced(trace.tracer.einsum(subscripts, handles, errors.here()))
    if len(arrays) == 1:
        # Of a diagonal NumPy returns a view.
        entangle(result, arrays[0].root())
    return result


def _subscripts(operands):
    """(subscripts without `...`, arrays): lists of axes become letters, axes under `...` have some of their own, extents of 1 that grow are dropped."""
    if not isinstance(operands[0], str):
        operands = _from_lists(operands)
    text, *arrays = operands
    arrays = [functions._as_array(x) for x in arrays]
    before, arrow, after = text.replace(" ", "").partition("->")
    terms = before.split(",")
    if len(terms) != len(arrays):
        raise errors.ArgumentError(f"np.einsum: {len(terms)} terms for {len(arrays)} operands", errors.here())
    unused = [letter for letter in string.ascii_letters if letter not in text]
    counts = [x.ndim - len(term.replace("...", "")) for term, x in zip(terms, arrays)]
    if any(count < 0 or count and "..." not in term for term, count in zip(terms, counts)):
        raise errors.ShapeError(f"np.einsum: the terms of {text!r} do not fit arrays of shapes {[x.shape for x in arrays]}", errors.here())
    most = max([count for term, count in zip(terms, counts) if "..." in term], default=0)
    shared = "".join(unused[:most])
    terms = [term.replace("...", shared[most - count :]) for term, count in zip(terms, counts)]
    if not arrow:
        letters = "".join(terms)
        after = shared + "".join(sorted(letter for letter in set(letters) - set(shared) if letters.count(letter) == 1))
    if arrow and shared and "..." not in after:
        raise errors.ShapeError("einsum: the output has no `...` for the axes that the operands have under theirs; name every axis that is summed", errors.here())
    after = after.replace("...", shared)
    extents = {}
    for term, x in zip(terms, arrays):
        for letter, extent in zip(term, x.shape):
            extents[letter] = extent if extents.get(letter, 1) == 1 else extents[letter]
    for k, (term, x) in enumerate(zip(terms, arrays)):
        grown = [j for j, letter in enumerate(term) if x.shape[j] == 1 and extents[letter] != 1]
        if grown:
            arrays[k] = np.reshape(x, [extent for j, extent in enumerate(x.shape) if j not in grown])
            terms[k] = "".join(letter for j, letter in enumerate(term) if j not in grown)
    return f"{','.join(terms)}->{after}", arrays


def _from_lists(operands):
    """`np.einsum(a, [0, 1], b, [1, 2], [0, 2])` by letters."""
    pairs, output = operands[: len(operands) // 2 * 2], operands[-1] if len(operands) % 2 else None
    word = lambda axes: "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in axes)
    text = ",".join(word(axes) for axes in pairs[1::2])
    return (text if output is None else f"{text}->{word(output)}", *pairs[::2])


def _tensordot(a, b, axes=2):
    a, b = functions._as_array(a), functions._as_array(b)
    if isinstance(axes, (int, np.integer)):
        left, right = range(a.ndim - int(axes), a.ndim), range(int(axes))
    else:
        left, right = ([axis] if isinstance(axis, (int, np.integer)) else list(axis) for axis in axes)
    left, right = ([_axis(k, x, "tensordot") for k in side] for side, x in ((left, a), (right, b)))
    if len(left) != len(right):
        raise errors.ShapeError(f"np.tensordot: {len(left)} axes cannot be paired with {len(right)}", errors.here())
    return functions._contract("tensordot", a, b, left, right, 0)


def _axis(axis, x, name):
    if not -x.ndim <= axis < x.ndim:
        raise errors.ShapeError(f"np.{name}: axis {axis} does not fit shape {x.shape}", errors.here())
    return axis % x.ndim


def _outer(a, b):
    a, b = (np.ravel(functions._as_array(x)) for x in (a, b))
    return np.multiply(a[:, None], b)


def _inner(a, b):
    a, b = functions._as_array(a), functions._as_array(b)
    if not a.ndim or not b.ndim:
        return np.multiply(functions.strong(a), functions.strong(b))
    return functions._contract("inner", a, b, [a.ndim - 1], [b.ndim - 1], 0)


def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Of vectors of three; those of two are deprecated in NumPy."""
    a, b = functions._as_array(a), functions._as_array(b)
    places = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    if not a.ndim or not b.ndim or a.shape[_axis(places[0], a, "cross")] != 3 or b.shape[_axis(places[1], b, "cross")] != 3:
        raise errors.ShapeError(f"np.cross: takes vectors of 3, found shapes {a.shape} and {b.shape}", errors.here())
    a, b = ([np.moveaxis(x, place, 0)[k] for k in range(3)] for x, place in ((a, places[0]), (b, places[1])))
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], axis=places[2])


def _vdot(a, b):
    a, b = (np.ravel(functions._as_array(x)) for x in (a, b))
    return functions._contract("vdot", a, b, [0], [0], 0)


def _trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    if offset:
        return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)
    a = functions._as_array(a) if dtype is None else functions.astype(functions._as_array(a), dtype)
    letters = list(string.ascii_lowercase[: a.ndim])
    first, second = _axis(axis1, a, "trace"), _axis(axis2, a, "trace")
    if a.ndim < 2 or first == second:
        raise errors.ShapeError(f"np.trace: axes {axis1} and {axis2} of shape {a.shape} are not two axes", errors.here())
    extent = min(a.shape[first], a.shape[second])
    square = a[tuple(slice(extent) if k in (first, second) else slice(None) for k in range(a.ndim))]
    rest = "".join(letter for k, letter in enumerate(letters) if k not in (first, second))
    letters[second] = letters[first]
    return _einsum(f"{''.join(letters)}->{rest}", square)


for _called, _rule in {
    np.linalg.cholesky: _cholesky,
    np.linalg.solve: lambda a, b: _system("solve", a, b, transpose=[0]),
    np.linalg.inv: lambda a: _matrix("inverse", a),
    np.linalg.det: lambda a: _matrix("det", a),
    np.linalg.slogdet: _slogdet,
    np.linalg.qr: _qr,
    np.linalg.norm: _norm,
    np.linalg.vector_norm: _vector_norm_of,
    np.linalg.matrix_norm: lambda x, *, keepdims=False, ord="fro": _norm(x, ord, (-2, -1), keepdims),
    np.linalg.matrix_power: _matrix_power,
    np.linalg.multi_dot: _multi_dot,
    np.linalg.tensorsolve: _tensorsolve,
    np.linalg.tensorinv: _tensorinv,
    np.linalg.trace: lambda x, *, offset=0, dtype=None: _trace(x, offset, -2, -1, dtype),
    np.linalg.outer: lambda x1, x2: _outer(x1, x2),
    np.linalg.cross: lambda x1, x2, *, axis=-1: _cross(x1, x2, axis, axis, axis),
    np.linalg.matmul: lambda x1, x2: np.matmul(x1, x2),
    np.linalg.tensordot: lambda x1, x2, *, axes=2: _tensordot(x1, x2, axes),
    np.linalg.vecdot: lambda x1, x2, *, axis=-1: np.sum(np.moveaxis(x1, axis, -1) * np.moveaxis(x2, axis, -1), axis=-1),
    np.einsum: _einsum,
    np.tensordot: _tensordot,
    np.outer: _outer,
    np.inner: _inner,
    np.vdot: _vdot,
    np.cross: _cross,
    np.trace: _trace,
}.items():
    implements(_called)(_rule)
implements(np.linalg.matrix_transpose, memory=True)(lambda x: np.swapaxes(x, -1, -2))
