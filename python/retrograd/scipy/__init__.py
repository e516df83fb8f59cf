"""SciPy's functions inside of traced ones, one module of ours for each of SciPy's; nothing here imports SciPy.

`table` finds the rule of a function when a user's own import of SciPy brings it; what has none is refused by name.
"""

from . import table

call, is_scipy, of_ufunc = table.call, table.is_scipy, table.of_ufunc
