"""`np.linalg`, `np.einsum` and products on traced arrays: a table from each to what it becomes."""

import collections
import string
from typing import Any

import numpy as np

from . import errors, functions, views
from .array import entangle, traced
from .rules import implements
from .trace import current

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
    q, r = current().tracer.qr(functions._as_array(a).handle(), errors.here())
    return traced(r) if mode == "r" else QRResult(traced(q), traced(r))


def _norm(x, ord=None, axis=None, keepdims=False):
    """Of vectors the norms 1, 2 and infinity, of matrices that of Frobenius."""
    x = functions._as_array(x)
    x = x if x.dtype.kind == "f" else 1.0 * x
    axis = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if ord is None or len(axis) == 1 and ord == 2 or len(axis) == 2 and ord == "fro":
        return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))
    if len(axis) == 1 and (ord == 1 or ord == np.inf and x.shape[axis[0]] == 0):
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if len(axis) == 1 and ord in (np.inf, -np.inf):
        return (np.max if ord > 0 else np.min)(np.abs(x), axis=axis, keepdims=keepdims)
    raise errors.Unsupported(f"np.linalg.norm with ord={ord!r} over {len(axis)} axes is not supported", errors.here())


# Products


def _einsum(*operands, optimize=None):
    """The order of products is ours, whatever `optimize` says: that with the fewest multiplications."""
    subscripts, *operands = operands
    if not isinstance(subscripts, str):
        raise errors.Unsupported('np.einsum with lists of axes is not supported; name the axes: np.einsum("ij,jk->ik", a, b)', errors.here())
    trace = current()
    arrays = [functions._as_array(x) for x in operands]
    before, arrow, after = subscripts.replace(" ", "").partition("->")
    if len(arrays) == 1 and arrow and sorted(before) == sorted(after) and len(set(before)) == len(before) == arrays[0].ndim:
        return np.transpose(arrays[0], [before.index(letter) for letter in after])
    dtype = functions._stored(arrays)
    handles = [views.convert(trace, x.handle(), dtype) for x in arrays]
    result = traced(trace.tracer.einsum(subscripts, handles, errors.here()))
    if len(arrays) == 1:
        # Of a diagonal NumPy returns a view.
        entangle(result, arrays[0].root())
    return result


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
        return np.multiply(a, b)
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
    np.einsum: _einsum,
    np.tensordot: _tensordot,
    np.outer: _outer,
    np.inner: _inner,
    np.vdot: _vdot,
    np.cross: _cross,
    np.trace: _trace,
}.items():
    implements(_called)(_rule)
