"""NumPy's functions on traced arrays, by topic. Importing this fills the table of `rules`; a function is one entry in one of these files."""

from . import (  # noqa: F401
    calculus, convolution, counting, elements, folding, joins, methods, missing, padding, picking, polynomials, reductions, shapes, statistics,
)
