"""`scipy.sparse`: matrices of SciPy as constants, and matrices with traced numbers; products, sums, transposes, solutions by conjugate gradients.

A pattern is known; the numbers may be traced. A product is one sum over the stored elements, in their order.
"""

import sys

import numpy as np

from .. import effects, errors

from ..array import traced
from ..custom import check, custom_vjp
from ..functions import _as_array, payload_of
from ..trace import current
from .elementwise import deeper, is_differentiated, looped
from .table import CLASSES, implements, refuse


class Sparse:
    """A matrix by its stored elements: rows and columns are known, the data may be traced. It has the operators of SciPy's matrices."""

    __array_priority__ = 2000
    __array_ufunc__ = None

    def __init__(self, data, rows, columns, shape, spmatrix=False):
        self.data, self.rows, self.columns, self.shape, self._spmatrix = data, rows, columns, shape, spmatrix

    ndim = 2

    @property
    def nnz(self):
        return len(self.rows)

    @property
    def T(self):
        return Sparse(self.data, self.columns, self.rows, self.shape[::-1], self._spmatrix)

    def transpose(self):
        return self.T

    def _same(self):
        return self

    tocsr = tocsc = tocoo = copy = _same

    def toarray(self):
        flat = np.zeros(self.shape[0] * self.shape[1], dtype=self.data.dtype)
        return np.reshape(_added(flat, self.rows * self.shape[1] + self.columns, self.data), self.shape)

    todense = toarray

    def diagonal(self):
        on = self.rows == self.columns
        return _added(
            np.zeros(min(self.shape), dtype=self.data.dtype), self.rows[on], np.take(self.data, np.flatnonzero(on))
        )

    def sum(self, axis=None):
        if axis is None:
            return np.sum(self.data)
        along = self.columns if axis in (0, -2) else self.rows
        return _added(
            np.zeros(self.shape[1] if axis in (0, -2) else self.shape[0], dtype=self.data.dtype), along, self.data
        )

    def __matmul__(self, other):
        if isinstance(other, Sparse) or is_sparse(other):
            raise errors.Unsupported(
                "a product of two sparse matrices is not supported; multiply by .toarray()", errors.here()
            )
        x = _as_array(other)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1]:
            raise errors.ShapeError(
                f"a sparse matrix of shape {self.shape} times an array of shape {x.shape}", errors.here()
            )
        data = self.data if x.ndim == 1 else np.reshape(self.data, (-1, 1))
        terms = data * np.take(x, self.columns, axis=0)
        return _added(np.zeros((self.shape[0], *x.shape[1:]), dtype=terms.dtype), self.rows, terms)

    def __rmatmul__(self, other):
        x = _as_array(other)
        return self.T @ x if x.ndim == 1 else np.transpose(self.T @ np.transpose(x))

    dot = __matmul__

    def __mul__(self, other):
        if np.ndim(other) == 0:
            return Sparse(self.data * other, self.rows, self.columns, self.shape, self._spmatrix)
        if self._spmatrix:
            return self @ other
        raise errors.Unsupported(
            "an elementwise product of a sparse array is not supported but by a number", errors.here()
        )

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * (1.0 / other)

    def __neg__(self):
        return self * -1.0

    def __add__(self, other):
        other = other if isinstance(other, Sparse) else of_scipy(other) if is_sparse(other) else None
        if other is None:
            raise errors.Unsupported(
                "a sum of a sparse and a dense array is not supported; use .toarray()", errors.here()
            )
        return Sparse(
            np.concatenate([self.data, other.data]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.columns, other.columns]),
            self.shape,
            self._spmatrix,
        )

    __radd__ = __add__

    def __sub__(self, other):
        return self + (-(other if isinstance(other, Sparse) else of_scipy(other)))


def _added(zeros, places, terms):
    """`zeros` with terms added at places along the first axis, in their order."""
    from ..table.picking import scatter

    return traced(scatter("scatter_add", _as_array(zeros), _known(places), 0, _as_array(terms)))


def _known(places):
    return np.ascontiguousarray(places, dtype=np.int64)


def is_sparse(value):
    """Whether a value is a sparse matrix or array of SciPy."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and module.issparse(value)


def of_scipy(matrix):
    """A matrix of SciPy inside of a trace; one from outside is guarded by what it holds."""
    coordinates = matrix.tocoo()
    if effects.owner(matrix) is None:
        current().outside.contents(matrix, "a sparse matrix")
    spmatrix = isinstance(matrix, sys.modules["scipy.sparse"].spmatrix)
    return Sparse(
        _as_array(coordinates.data),
        coordinates.row.astype(np.int64),
        coordinates.col.astype(np.int64),
        matrix.shape,
        spmatrix,
    )


def operated(operator, a, b):
    """`a @ b` and the like, where one is sparse and the other is traced."""
    a, b = (of_scipy(value) if is_sparse(value) else value for value in (a, b))
    if isinstance(b, Sparse) and not isinstance(a, Sparse):
        name = {"matmul": "__rmatmul__", "mul": "__rmul__", "add": "__radd__"}.get(operator)
        if name is None:
            raise errors.Unsupported(f"`{operator}` of an array and a sparse matrix is not supported", errors.here())
        return getattr(b, name)(a)
    method = getattr(a, f"__{operator}__", None)
    if method is None:
        raise errors.Unsupported(f"`{operator}` of a sparse matrix is not supported", errors.here())
    return method(b)


# Matrices with traced numbers


def _integers(values, what):
    known = payload_of(values)
    if known is None:
        raise errors.Unsupported(
            f"a sparse matrix with traced {what} is not supported: its pattern must be known", errors.here()
        )
    return np.asarray(known, dtype=np.int64)


def _constructor(form, spmatrix):
    def make(arg1, shape=None):
        if not isinstance(arg1, tuple) or isinstance(arg1[0], (int, np.integer)):
            raise errors.Unsupported(
                "a sparse matrix of a dense traced array is not supported: its pattern is not known; give (data, (rows, columns))",
                errors.here(),
            )
        if len(arg1) == 2:
            data, (rows, columns) = arg1
            rows, columns = _integers(rows, "rows"), _integers(columns, "columns")
        else:
            data, inner, starts = arg1
            inner, starts = _integers(inner, "indices"), _integers(starts, "indptr")
            outer = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            rows, columns = (inner, outer) if form == "csc" else (outer, inner)
            shape = shape or (
                (int(inner.max()) + 1, len(starts) - 1) if form == "csc" else (len(starts) - 1, int(inner.max()) + 1)
            )
        shape = tuple(shape) if shape is not None else (int(rows.max()) + 1, int(columns.max()) + 1)
        return Sparse(_as_array(data), rows, columns, shape, spmatrix)

    return make


for _form in ("csr", "csc", "coo"):
    implements(f"sparse.{_form}_matrix")(_constructor(_form, True))
    implements(f"sparse.{_form}_array")(_constructor(_form, False))


@implements("sparse.diags")
def diags(diagonals, offsets=0, shape=None):
    offsets = [offsets] if np.ndim(offsets) == 0 else list(offsets)
    diagonals = [diagonals] if len(offsets) == 1 and np.ndim(diagonals) == 1 else list(diagonals)
    n = len(diagonals[0]) + abs(int(offsets[0])) if shape is None else None
    shape = (n, n) if shape is None else tuple(shape)
    rows, columns, data = [], [], []
    for diagonal, offset in zip(diagonals, offsets):
        count = min(shape[0] + min(offset, 0), shape[1] - max(offset, 0))
        diagonal = 1.0 * _as_array(diagonal)
        data.append(np.broadcast_to(diagonal, (count,)) if diagonal.shape in ((), (1,)) else diagonal)
        rows.append(np.arange(count) - min(offset, 0))
        columns.append(np.arange(count) + max(offset, 0))
    return Sparse(np.concatenate(data), np.concatenate(rows), np.concatenate(columns), shape)


def _of_matrix(owner, name):
    """Methods of SciPy's matrices on traced arrays."""
    if name in ("dot", "__matmul__"):
        return lambda other: of_scipy(owner) @ other
    return None


for _form in ("csr", "csc", "coo"):
    CLASSES[f"sparse.{_form}_matrix"] = CLASSES[f"sparse.{_form}_array"] = _of_matrix


# Solutions


def _as_sparse(A, name):
    if isinstance(A, Sparse):
        return A
    if is_sparse(A):
        return of_scipy(A)
    dense = _as_array(A)
    rows, columns = (index.ravel() for index in np.indices(dense.shape))
    return Sparse(np.ravel(dense), rows, columns, dense.shape)


@implements("sparse.linalg.cg")
def cg(A, b, x0=None, rtol=1e-5, atol=0.0, maxiter=None):
    """Conjugate gradients for a symmetric positive definite matrix. The derivative is that of the solution: it solves the same system once more, to 1e-12."""
    matrix, b = _as_sparse(A, "cg"), 1.0 * _as_array(b)
    limit = 10 * b.shape[0] if maxiter is None else int(maxiter)
    start = 0.0 * b if x0 is None else 1.0 * _as_array(x0)
    x, failed = _solution(matrix, float(rtol), float(atol), limit)(matrix.data, b, start)
    return x, failed


def _solution(matrix, rtol, atol, limit):
    def product(data, x):
        return Sparse(data, matrix.rows, matrix.columns, matrix.shape) @ x

    def solve(data, b, start):
        return looped(_conjugate, product, data, b, start, rtol, atol, limit)

    if not is_differentiated():
        return solve

    def forward(data, b, start):
        with deeper():
            # Residuals are differentiated once less than the result.
            x, failed = _solution(matrix, rtol, atol, limit)(data, b, start)
        return (x, failed), (data, x)

    def backward(kept, cts):
        data, x = kept
        with deeper():
            found, failed = _solution(matrix, 1e-12, 0.0, 10 * matrix.shape[0])(data, cts[0], 0.0 * x)
        check(
            failed == 0,
            "scipy.sparse.linalg.cg did not converge for the derivative: the matrix is not symmetric positive definite, or ill-conditioned",
            RuntimeError,
        )
        return -np.take(found, _known(matrix.rows)) * np.take(x, _known(matrix.columns)), found, None

    stated = custom_vjp(solve)
    stated.defvjp(forward, backward)
    return stated


def _conjugate(product, data, b, x, rtol, atol, limit):
    r = b - product(data, x)
    p, n = r, 0
    rho = np.sum(r * r)
    goal = np.maximum(atol, rtol * np.sqrt(np.sum(b * b)))
    while np.sqrt(rho) > goal and n < limit:
        n = n + 1
        q = product(data, p)
        alpha = rho / np.sum(p * q)
        x = x + alpha * p
        r = r - alpha * q
        following = np.sum(r * r)
        p = r + (following / rho) * p
        rho = following
    return x, np.where(np.sqrt(rho) > goal, n, 0)


@implements("sparse.linalg.spsolve")
def spsolve(A, b, permc_spec=None, use_umfpack=True):
    """As a dense system, up to 4,096 rows."""
    matrix = _as_sparse(A, "spsolve")
    if matrix.shape[0] > 4096:
        raise errors.Unsupported(
            "scipy.sparse.linalg.spsolve with more than 4096 rows is not supported: it is solved as a dense system; use scipy.sparse.linalg.cg",
            errors.here(),
        )
    return np.linalg.solve(matrix.toarray(), b)


refuse(
    "use scipy.sparse.linalg.cg or spsolve",
    *[
        f"sparse.linalg.{name}"
        for name in ("gmres", "bicg", "bicgstab", "minres", "splu", "factorized", "lsqr", "lsmr", "expm_multiply")
    ],
)
