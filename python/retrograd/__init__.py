"""Exact derivatives of plain NumPy functions, loops and all, inside the memory you give.

    import numpy as np, retrograd as rg

    def loss(s, theta):
        for i in range(1000):
            s = s + 0.01 * np.tanh(theta * s)
        return np.sum(s**2)

    g = rg.value_and_grad(loss, argnums=(0, 1), budget="1.2 MB")
    value, (ds, dtheta) = g(np.random.randn(10_000), np.random.randn(10_000))
"""

from .api import (
    auto, check_grads, debug_nan, grad, hessian, hvp, ilp, jacfwd, jacobian, jacrev, jit, jvp, keep_all, observe, periodic, recompute_all,
    revolve, user, value_and_grad, vjp,
)
from .arguments import spec
from .array import Array
from .compiled import Progress, cache_clear, cache_info, load
from .custom import clip_cotangent, custom_jvp, custom_vjp, map_cotangent, probe, probe_cotangent, stop_gradient
from .errors import (
    ArgumentError, BoundsError, DiskError, DivisionByZero, DTypeError, Error, InternalError, MissingRule, NotFinite, OutOfMemory, OverBudget, ShapeError, Unsupported,
)
from .expr import Expr, expr, from_sympy, symbols
from .linalg import lu, triangular_solve
from .numeric import logsumexp
from .steps import map, scan

__all__ = [
    "ArgumentError", "Array", "BoundsError", "DTypeError", "DiskError", "DivisionByZero", "Error", "Expr", "InternalError", "MissingRule", "NotFinite", "OutOfMemory",
    "OverBudget", "Progress",
    "ShapeError", "Unsupported", "auto", "cache_clear", "cache_info", "check_grads", "clip_cotangent", "custom_jvp", "custom_vjp", "debug_nan", "expr", "from_sympy", "grad", "hessian", "hvp", "ilp",
    "jacfwd", "jacobian", "jacrev", "jit", "jvp", "keep_all", "load", "logsumexp", "lu", "map", "map_cotangent", "observe", "periodic", "probe", "probe_cotangent",
    "recompute_all", "revolve", "scan", "spec", "stop_gradient", "symbols", "triangular_solve",
    "user", "value_and_grad", "vjp",
]
