"""`scipy.optimize` is refused by name, with what to write: its iterations are no part of the derivative."""

from .table import refuse

refuse(
    "use rg.root, whose derivative is that of the root",
    *[
        f"optimize.{name}"
        for name in (
            "root",
            "root_scalar",
            "brentq",
            "brenth",
            "ridder",
            "bisect",
            "newton",
            "toms748",
            "fsolve",
            "broyden1",
            "newton_krylov",
            "anderson",
        )
    ],
)
refuse("use rg.fixed_point, whose derivative is that of the fixed point", "optimize.fixed_point")
refuse(
    "use rg.minimize, whose derivative is that of the minimum",
    *[
        f"optimize.{name}"
        for name in (
            "minimize",
            "minimize_scalar",
            "least_squares",
            "curve_fit",
            "fmin",
            "fmin_bfgs",
            "fmin_l_bfgs_b",
            "fmin_cg",
            "leastsq",
            "differential_evolution",
        )
    ],
)
