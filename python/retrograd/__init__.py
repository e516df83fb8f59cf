"""Exact derivatives of plain NumPy functions, loops and all, inside the memory you give.

    import numpy as np, retrograd as rg

    def loss(s, theta):
        for i in range(1000):
            s = s + 0.01 * np.tanh(theta * s)
        return np.sum(s**2)

    g = rg.value_and_grad(loss, argnums=(0, 1), budget="1.2 MB")
    value, (ds, dtheta) = g(np.random.randn(10_000), np.random.randn(10_000))
"""

from .api import auto, grad, jit, keep_all, periodic, revolve, spec, value_and_grad
from .array import Array
from .errors import ArgumentError, BoundsError, DivisionByZero, DTypeError, Error, InternalError, MissingRule, OutOfMemory, OverBudget, ShapeError, Unsupported

__all__ = [
    "ArgumentError", "Array", "BoundsError", "DTypeError", "DivisionByZero", "Error", "InternalError", "MissingRule", "OutOfMemory", "OverBudget",
    "ShapeError", "Unsupported", "auto", "grad", "jit", "keep_all", "periodic", "revolve", "spec", "value_and_grad",
]
