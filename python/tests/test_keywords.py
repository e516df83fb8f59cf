"""No keyword of a NumPy function is dropped: each parameter of NumPy's signature is implemented as NumPy does it, or refused by name."""

import inspect
import linecache
import warnings

import numpy as np
import pytest

import retrograd as rg
from retrograd import functions, rules

M = np.array([[0.5, -1.5, 2.25, 0.75], [1.25, 0.25, -0.5, 3.0], [-2.0, 1.75, 0.1, -0.3]])
V = np.array([0.5, -1.5, 2.25])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])

# What a function is called with by position, in terms of the matrix m, the vector v and the square matrix s; m alone where it is not here.
OPERANDS = {
    "where": "m > 0, m, 1.0", "reshape": "m, (2, 6)", "swapaxes": "m, 0, 1", "expand_dims": "m, 0", "broadcast_to": "v, (2, 3)", "astype": "m, np.float32",
    "full_like": "m, 2.0", "concatenate": "[m, m]", "stack": "[m, m]", "hstack": "[m, m]", "vstack": "[m, m]", "column_stack": "[v, v]", "take": "m, [0, 2]",
    "take_along_axis": "m, np.array([[0, 1, 2, 0]])", "roll": "m, 1", "pad": "m, 1", "clip": "m, -1.0, 1.0", "moveaxis": "m, 0, 1", "tile": "m, 2", "repeat": "m, 2",
    "linspace": "v[0], v[1]", "append": "m, m", "split": "m, 3", "array_split": "m, 2", "vsplit": "m, 3", "hsplit": "m, 2", "dsplit": "m[..., None] * np.ones(2), 2",
    "select": "[m > 0], [m]", "meshgrid": "v, v", "broadcast_arrays": "v, m.T", "copyto": "m, 1.0", "fill_diagonal": "m, 1.0", "put": "m, [0], 1.0",
    "place": "m, m > 0, 1.0", "putmask": "m, m > 0, m", "put_along_axis": "m, np.array([[0, 1, 2, 0]]), 1.0, 0", "dot": "m, m.T", "tensordot": "s, s",
    "outer": "v, v", "inner": "v, v", "vdot": "v, v", "cross": "v, v * v", "einsum": '"ij,kj->ik", m, m', "convolve": "v, v", "correlate": "v, v",
    "cholesky": "s", "solve": "s, v", "inv": "s", "det": "s", "slogdet": "s", "qr": "s", "eigh": "s", "eigvalsh": "s", "svd": "m", "svdvals": "m", "pinv": "s",
    "matrix_rank": "s", "trapezoid": "m", "average": "m", "rollaxis": "m, 1",
    "full": "(2, 3), v[0]", "zeros": "(2, 3)", "ones": "(2, 3)", "empty": "(2, 3)",
    "vander": "v", "apply_over_axes": "np.sum, m, (0,)", "apply_along_axis": "np.sum, 0, m", "compress": "[True, False, True], m", "extract": "m > 0.0, m", "array_equal": "v, v",
    "array_equiv": "v, v", "polyadd": "v, v", "polysub": "v, v", "polymul": "v, v", "polyval": "v, m", "polyder": "v", "polyint": "v", "polyfit": "v, v * v, 1", "isin": "m, [0.5, 3.0]",
    "isclose": "m, m", "allclose": "m, m", "tensorsolve": "s.reshape(3, 1, 3), v.reshape(3, 1)", "tensorinv": "s.reshape(3, 1, 3)", "lstsq": "s, v", "kron": "v, v", "logspace": "v[0], v[2]",
    "geomspace": "v[0], v[2]", "digitize": "m, np.array([-1.0, 0.0, 1.0])", "histogram": "m", "histogram_bin_edges": "m", "choose": "np.array([0, 1, 0]), [v, v * v]", "cov": "m", "corrcoef": "m",
    "piecewise": "m, [m > 0], [1.0]", "ravel_multi_index": "(np.array([0, 1]), np.array([1, 2])), (3, 4)", "unravel_index": "np.array([3, 7]), (3, 4)", "unwrap": "3.0 * m", "gradient": "m",
    "interp": "m, np.array([-1.0, 0.0, 1.0]), v", "cumulative_sum": "v", "cumulative_prod": "v", "partition": "v, 1", "argpartition": "v, 1", "quantile": "m, 0.3", "percentile": "m, 30.0",
    "nanquantile": "m, 0.3", "nanpercentile": "m, 30.0", "bincount": "np.array([0, 2, 1])", "resize": "m, (2, 5)", "insert": "v, 1, 2.0", "cond": "s, 1", "matrix_power": "s, 2",
    "multi_dot": "[s, m, m.T]", "searchsorted": "np.array([-1.0, 0.0, 1.0]), m", "sliding_window_view": "v, 2", "ediff1d": "m", "lexsort": "(v, v)", "matvec": "s, v", "vecmat": "v, s",
    "vecdot": "m, m", "ldexp": "m, 2", "gcd": "np.arange(3), 4", "lcm": "np.arange(3), 4", "ix_": "[0, 1]", "fftshift": "m", "ifftshift": "m", "result_type": "m", "common_type": "m",
    "trace": "s", "diagonal": "s", "diag": "s", "nan_to_num": "m", "size": "m", "diagflat": "v", "delete": "m, 0",
}

# Values of a parameter that are not its default, in the same terms.
VALUES = {
    "axis": ["0", "-1", "1", "None", "(0, 1)"], "axes": ["(1, 0)", "0", "1", "([0], [1])"], "dtype": ["np.float32", "np.int64", "complex"],
    "out": ["np.zeros((3, 4))", "np.zeros(4)", "np.zeros((2, 2))", "np.zeros((3, 3))"],
    "keepdims": ["True"], "initial": ["2.0"], "where": ["m > 0", "[True, False, True, True]"], "order": ['"F"', '"C"', '"A"', '"K"'], "copy": ["False", "True", "None"],
    "subok": ["True", "False"], "ndmin": ["3", "0"], "ndmax": ["1", "2"], "casting": ['"unsafe"', '"no"'], "shape": ["(2, 2)", "5"], "device": ['"cpu"'],
    "like": ["np.zeros(1)"], "ord": ["1", "2", "np.inf", '"fro"'], "ddof": ["1"], "correction": ["1"], "mean": ["m.mean()", "0.5"], "kind": ['"stable"'], "stable": ["True"], "weights": ["m * m", "v"], "returned": ["True"],
    "n": ["0", "2"], "prepend": ["0.0"], "append": ["0.0"], "x": ["np.arange(4.0)"], "dx": ["0.5"], "mode": ['"wrap"', '"clip"', '"edge"', '"full"', '"r"', '"same"', '"complete"'],
    "shift": ["2"], "constant_values": ["1.5"], "k": ["1", "-1", "2"], "decimals": ["1", "-1"], "num": ["7"], "endpoint": ["False"], "retstep": ["True"],
    "default": ["3.0"], "sparse": ["True"], "indexing": ['"ij"'], "wrap": ["True"], "offset": ["1", "-1"], "axis1": ["1"], "axis2": ["0"], "axisa": ["0"], "axisb": ["0"],
    "axisc": ["0"], "upper": ["True"], "optimize": ["True"], "nan": ["1.0"], "posinf": ["1.0"], "neginf": ["1.0"], "overwrite_input": ["True"], "a_min": ["0.0"], "a_max": ["0.0"],
    "min": ["0.0"], "max": ["0.5"], "start": ["1"], "requirements": ['"F"', '["C", "W"]', '"O"'], "tol": ["1"], "fill_value": ["2.0"], "reps": ["(2, 1)"], "repeats": ["[1, 2, 3]"],
    "N": ["2"], "assume_unique": ["True"], "atol": ["0.5"], "rtol": ["0.5"], "aweights": ["np.arange(1.0, 5.0)"], "fweights": ["np.arange(1, 5)"], "base": ["2.0"], "bias": ["True"],
    "bins": ["4", "np.array([-1.0, 0.0, 1.0])", '"auto"'], "cov": ["True"], "full": ["True"], "deg": ["True"], "density": ["True"], "discont": ["4.0"], "edge_order": ["2"], "equal_nan": ["True"],
    "include_initial": ["True"], "increasing": ["True"], "ind": ["1", "2"], "invert": ["True"], "left": ["-1.0"], "right": ["True", "-1.0"], "m": ["2"], "method": ['"lower"', '"hazen"', '"closest_observation"'],
    "minlength": ["5"], "p": ["1", '"fro"', "2"], "period": ["2.5"], "range": ["(-1.0, 1.0)"], "rcond": ["1e-3"], "side": ['"right"'], "sorter": ["np.array([0, 1, 2])"], "to_begin": ["0.0", "v"],
    "to_end": ["1.0"], "w": ["v * v"], "writeable": ["True"], "stat_length": ["2"], "end_values": ["1.0"], "reflect_type": ['"odd"'],
    "UPLO": ['"U"'], "compute_uv": ["False"], "full_matrices": ["False"], "hermitian": ["True"],
    "newshape": ["(4, 3)"], "rowvar": ["False"], "signature": ['"d->d"'], "y": ["m"],
}


def covered():
    """(how one writes a function, the function, its parameters) of all that have rules."""
    for function in [*rules.FUNCTIONS, *functions.CREATION]:
        names = [item for item in rules.parameters(function) or ()]
        yield rules.name_of(function), function, names
    for function in functions.UFUNCS:
        named = ["out", "where", "casting", "order", "dtype", "subok", "signature"]
        yield rules.name_of(function), function, [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in named]


def calls():
    for written, function, parameters in covered():
        short = function.__name__
        operands = OPERANDS.get(short, "m" if not isinstance(function, np.ufunc) else ", ".join(["m"] * function.nin))
        taken = 0 if "(" not in operands and not operands else len(split(operands))
        for place, parameter in enumerate(parameters):
            by_position = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) and place < taken
            if by_position or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                continue
            yield written, operands, parameter.name


def split(text):
    """The parts between commas that are not in brackets or quotes."""
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def outcome(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as error:
            return error


def arrays(value):
    return [item for part in value for item in arrays(part)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


CALLS = list(calls())


def test_every_keyword_has_values():
    """A parameter that NumPy gains must be thought of."""
    assert {name for _, _, name in CALLS} <= set(VALUES)
    assert len({written for written, _, _ in CALLS}) > 120


@pytest.mark.parametrize("name", sorted({name for _, _, name in CALLS}))
def test_keywords_are_implemented_or_refused(name):
    wrong, implemented = [], 0
    for written, operands, parameter in CALLS:
        if parameter != name:
            continue
        for value in VALUES[name]:
            call = f"{written}({operands}, {name}={value})"
            file, text = f"<{call}>", f"def f(m, v, s):\n    r = {call}\n    return (m, m * 1.0) if r is None else (r, m * 1.0)\n"
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
            scope = {"np": np}
            exec(compile(text, file, "exec"), scope)
            expected, found = (outcome(lambda: run(M.copy(), V.copy(), S.copy())) for run in (scope["f"], rg.jit(scope["f"])))
            if isinstance(expected, Exception):
                if not isinstance(found, Exception):
                    wrong.append(f"{call}: NumPy refuses it: {expected}")
                continue
            if isinstance(found, Exception):
                if not isinstance(found, rg.Error):
                    wrong.append(f"{call}: {type(found).__name__}: {found}")
                continue
            implemented += 1
            pairs = list(zip(arrays(found), arrays(expected)))
            same = len(arrays(found)) == len(arrays(expected)) and all(
                a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, rtol=1e-5, equal_nan=True) for a, b in pairs
            )
            if not same and not written.startswith("np.empty"):
                wrong.append(f"{call}: {[(a.dtype, a.shape) for a, _ in pairs]}, NumPy {[(b.dtype, b.shape) for _, b in pairs]}")
    assert not wrong, "\n".join(wrong)
