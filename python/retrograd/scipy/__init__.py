"""SciPy's functions inside of traced ones, one module of ours for each of SciPy's; nothing here imports SciPy.

`table` finds the rule of a function when a user's own import of SciPy brings it; what has none is refused by name.
"""

import sys

from . import table

call, is_scipy, of_ufunc = table.call, table.is_scipy, table.of_ufunc


def is_sparse_operation(a, b):
    """Whether one of two operands is a sparse matrix and the other is traced."""
    from ..array import Array

    if "scipy.sparse" not in sys.modules:
        return False
    from . import sparse

    kinds = [sparse.is_sparse(value) for value in (a, b)]
    return any(kinds) and any(isinstance(value, (Array, sparse.Sparse)) for value in (a, b))


def operated(operator, a, b):
    """`a @ b` and the like of sparse matrices and traced arrays."""
    from . import sparse

    return sparse.operated(operator, a, b)
