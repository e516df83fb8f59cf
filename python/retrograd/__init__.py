"""Exact derivatives of plain NumPy functions, loops and all, inside the memory you give.

    import numpy as np, retrograd as rg

    def loss(s, theta):
        for i in range(1000):
            s = s + 0.01 * np.tanh(theta * s)
        return np.sum(s**2)

    g = rg.value_and_grad(loss, argnums=(0, 1), budget="1.2 MB")
    value, (ds, dtheta) = g(np.random.randn(10_000), np.random.randn(10_000))
"""

from . import errors
from .api import (
    auto, check_grads, debug_nan, disable_jit, eval_shape, fate, grad, hessian, hvp, ilp, jacfwd, jacobian, jacrev, jit, jvp, keep_all, linear_transpose, linearize,
    observe, periodic, recompute_all, revolve, user, value_and_grad, vjp, vmap,
)
from .arguments import spec
from .array import Array
from .compiled import Progress, cache_clear, cache_info, load
from .custom import check, clip_cotangent, custom_jvp, custom_vjp, map_cotangent, probe, probe_cotangent, stop_gradient
from .errors import (
    ArgumentError, BoundsError, CheckError, DiskError, DivisionByZero, DTypeError, Error, InternalError, LinAlgError, MissingRule, NotFinite, OutOfMemory, OverBudget, ShapeError, Unsupported,
)
from .external import external
from .expr import Expr, expr, from_sympy, symbols
from .linalg import lu, triangular_solve
from .optimize import fixed_point, minimize, root
from .steps import map, scan
from .store import cache_dir
from .table.reductions import logsumexp
from .tree import (
    register_pytree_node, register_pytree_node_class, tree_flatten, tree_leaves, tree_map, tree_reduce, tree_structure, tree_unflatten,
)
from .versions import show_versions

__all__ = [
    "ArgumentError", "Array", "BoundsError", "CheckError", "DTypeError", "DiskError", "DivisionByZero", "Error", "Expr", "InternalError",
    "LinAlgError", "MissingRule", "NotFinite", "OutOfMemory", "OverBudget", "Progress", "ShapeError", "Unsupported", "__version__", "auto",
    "cache_clear", "cache_dir", "cache_info", "check", "check_grads", "clip_cotangent", "custom_jvp", "custom_vjp", "debug_nan",
    "disable_jit", "errors", "eval_shape", "expr", "external", "fate", "fixed_point", "from_sympy", "grad", "hessian", "hvp", "ilp",
    "jacfwd", "jacobian", "jacrev", "jit", "jvp", "keep_all", "linear_transpose", "linearize", "load", "logsumexp", "lu", "map",
    "map_cotangent", "minimize", "observe", "periodic", "probe", "probe_cotangent", "recompute_all", "register_pytree_node",
    "register_pytree_node_class", "revolve", "root", "scan", "show_versions", "spec", "stop_gradient", "symbols", "tree_flatten",
    "tree_leaves", "tree_map", "tree_reduce", "tree_structure", "tree_unflatten", "triangular_solve", "user", "value_and_grad", "vjp",
    "vmap",
]


def __dir__():
    """The public surface."""
    return sorted(__all__)


def __getattr__(name):
    """The version, when somebody asks: to look it up takes longer than all the rest of the import."""
    if name == "__version__":
        from importlib import metadata

        globals()["__version__"] = metadata.version("retrograd")
        return __version__
    raise AttributeError(f"module 'retrograd' has no attribute '{name}'")
