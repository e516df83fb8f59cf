"""Views and copies are NumPy's: expressions over bases of every layout, written through and behind, against NumPy itself."""

import linecache
import warnings

import numpy as np
import pytest

import retrograd as rg

BASES = {
    "contiguous": "a",
    "strided": "a[::2, 1::2]",
    "transposed": "a.T",
    "reversed": "a[::-1, ::-1]",
    "row": "a[1]",
    "column": "a[:, 1]",
    "backwards": "a[2, ::-1]",
    "computed": "a.T + 1.0",
    "copied": "a.T.copy()",
    "kept": "np.copy(a.T)",
}

EXPRESSIONS = """
b | b[...] | b[()] | b[:] | b[1:] | b[:-1] | b[::2] | b[::-1] | b[1:3] | b[0:0] | b[None] | b[..., None] | b[..., 1:] | b[..., ::-1]
b[[0, 1]] | b[np.array([1, 0])] | b[[True] + [False] * (len(b) - 1)] | b[b > 0] | b[b.shape[0] // 2 :]
b.T | b.transpose() | np.transpose(b) | b.swapaxes(0, -1) | np.swapaxes(b, 0, -1) | np.moveaxis(b, 0, -1) | np.moveaxis(b, [0, -1], [-1, 0]) | np.rollaxis(b, b.ndim - 1)
np.matrix_transpose(np.atleast_2d(b)) | np.permute_dims(b) | np.atleast_2d(b).mT
b.ravel() | np.ravel(b) | b.flatten() | b.ravel("C") | b.ravel("F") | b.ravel("K") | np.ravel(b, order="A") | b.flatten("F")
b.reshape(-1) | b.reshape(b.shape) | b.reshape(b.shape[::-1]) | b.reshape(1, -1) | b.reshape(-1, 1) | b.reshape((-1,), order="F") | b.reshape(-1, copy=True)
b.reshape(-1, copy=False) | b.reshape(b.shape, copy=True) | np.reshape(b, -1) | np.reshape(b, b.shape[::-1], order="F") | np.reshape(b, (b.size,), copy=None)
b.copy() | b.copy("F") | b.copy("K") | b.copy(order="A") | np.copy(b) | np.copy(b, order="C") | np.array(b) | np.array(b, copy=True) | np.array(b, copy=False) | np.array(b, copy=None)
np.array(b, ndmin=3) | np.array(b, ndmin=3, copy=False) | np.array(b, order="F") | np.array(b, copy=None, order="C") | np.array(b, float, copy=None) | np.array(b, np.float32)
np.asarray(b) | np.asarray(b, float) | np.asarray(b, copy=True) | np.asarray(b, copy=False) | np.asarray(b, copy=None) | np.asarray(b, order="C") | np.asarray(b, order="F")
np.asanyarray(b) | np.ascontiguousarray(b) | np.asfortranarray(b) | np.require(b, requirements="C") | np.require(b)
b.astype(float) | b.astype(float, copy=False) | b.astype(float, copy=True) | b.astype(np.float32, copy=False) | b.astype(float, order="C", copy=False) | np.astype(b, float, copy=False)
b.squeeze() | b[None].squeeze(0) | np.squeeze(b[..., None], -1) | np.expand_dims(b, 0) | np.expand_dims(b, (0, -1))
np.flip(b) | np.flip(b, 0) | np.flip(b, -1) | np.flipud(b) | np.fliplr(np.atleast_2d(b)) | np.rot90(np.atleast_2d(b)) | np.rot90(np.atleast_2d(b), 2) | np.rot90(np.atleast_2d(b), 4)
np.atleast_1d(b) | np.atleast_2d(b) | np.atleast_3d(b) | np.broadcast_to(b, (2, *b.shape)) | np.broadcast_arrays(b, np.zeros((2, 1, 1)))[0] | np.broadcast_arrays(b, b)[1]
np.diagonal(np.atleast_2d(b)) | np.atleast_2d(b).diagonal(1) | np.diag(np.atleast_2d(b)) | np.diag(b.reshape(-1)) | np.tril(np.atleast_2d(b)) | np.triu(np.atleast_2d(b), 1)
np.split(b, [1])[0] | np.split(b, [1])[1] | np.array_split(b, 2)[0] | np.hsplit(np.atleast_2d(b), [1])[1] | np.vsplit(np.atleast_2d(b), [1])[0] | np.split(b, len(b))[-1]
np.roll(b, 1) | np.roll(b, 0) | np.roll(b, 1, 0) | np.concatenate([b]) | np.concatenate([b, b]) | np.stack([b]) | np.vstack([b]) | np.hstack([b]) | np.append(b, b) | np.column_stack([b])
np.take(b, [0, 1], axis=0) | np.take(b, 0, axis=0)[..., None] | np.repeat(b, 1) | np.tile(b, 1) | np.resize(b, b.shape) | np.compress([True], b, axis=0) | np.delete(b, 0, 0) | np.insert(b, 0, 1.0, 0)
np.where(b > 0, b, b) | np.clip(b, None, None) | np.clip(b, -9, 9) | np.nan_to_num(b) | np.nan_to_num(b, copy=False) | np.nan_to_num(b, copy=True) | np.round(b) | np.round(b, 2) | np.fix(b)
np.real(b) | b.real | np.real_if_close(b) | b.conj() | np.conj(b) | np.positive(b) | +b | -b | np.abs(b) | b + 0 | b * 1 | b**1 | b**2 | np.maximum(b, b) | np.square(b) | np.sign(b)
np.sort(b) | np.sort(b, axis=0) | np.cumsum(b) | np.cumsum(b, axis=0) | np.diff(b) | np.diff(b, n=0) | np.pad(b, 0) | np.pad(b, 1) | np.trim_zeros(b) | np.unique(b)
np.zeros_like(b) | np.ones_like(b) | np.full_like(b, 2.0) | np.empty_like(b) * 0.0 | np.sum(b[None], axis=0) | np.mean(b[None], axis=0) | np.max(b[None], axis=0) | b[None].sum(0) | np.prod(b[None], axis=0)
np.einsum("...->...", b) | np.einsum("...i->...", b[..., None]) | np.einsum("ij->ji", np.atleast_2d(b)) | np.einsum("ij,ij->ij", np.atleast_2d(b), np.atleast_2d(b)) | np.outer(b, b) | np.atleast_2d(b) @ np.eye(np.atleast_2d(b).shape[1])
np.meshgrid(b.ravel(), b.ravel())[0] | np.meshgrid(b.ravel(), b.ravel(), copy=False)[1] | np.meshgrid(b.ravel(), sparse=True, copy=False)[0] | next(iter(b)) | [row for row in b][-1] | b.view() | b.data
np.lib.stride_tricks.sliding_window_view(b.ravel(), 2) | np.unstack(b)[0] | np.linalg.diagonal(np.atleast_2d(b)) | np.apply_along_axis(lambda v: v, 0, b) | np.take_along_axis(b, np.zeros_like(b, int), axis=0) | np.choose([0], [b])
(b + 0).ravel() | (b * 2.0).reshape(-1) | np.sqrt(np.abs(b)).ravel() | np.where(b > 0, b, 0).ravel() | np.concatenate([b, b]).ravel() | np.stack([b, b]).reshape(-1) | np.sort(b).ravel() | np.copy(b).ravel()
np.zeros_like(b).ravel() | np.roll(b, 1, 0).ravel() | np.clip(b, -1, 1).ravel() | np.sum(b[None], 0).ravel() | np.cumsum(b, 0).ravel() | np.pad(b, 1).ravel() | (b > 0).astype(float).ravel() | np.minimum(b, b.copy()).reshape(-1)
(b + np.zeros(b.shape)).ravel() | (b + b.copy("F")).ravel() | np.tile(b, 2).ravel() | np.take(b, [0, 1], 0).ravel() | b[[0, 1]].ravel() | b.astype(np.float32).ravel() | np.nan_to_num(b).ravel() | np.round(b, 1).ravel()
"""

EXPRESSIONS = [part.strip() for line in EXPRESSIONS.strip().splitlines() for part in line.split(" | ")]


WRITES = {
    "through": "v[...] = v * 2.0 + 1.0",
    "behind": "b[...] = 7.0",
    "element": "v.T[-1] -= 3.0; b.T[0] = 5.0",
}


def programs(base, write):
    """A function per expression, from source that can be read."""
    name = f"<views: {base}, {write}>"
    text = "".join(f"def f{k}(a):\n    b = {BASES[base]}\n    v = {expression}\n    {WRITES[write]}\n    return a, b, v\n" for k, expression in enumerate(EXPRESSIONS))
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"np": np}
    exec(compile(text, name, "exec"), scope)
    return [scope[f"f{k}"] for k in range(len(EXPRESSIONS))]


def outcome(run, refusals):
    """What a run gives: arrays, or the kind of error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [np.asarray(result) for result in run()]
        except refusals as error:
            return error


A = np.random.default_rng(5).normal(size=(4, 6))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("write", WRITES)
def test_views_are_numpys(base, write):
    """Never another value, never a value where NumPy refuses; what is refused though NumPy gives it is listed by name."""
    wrong, refused = [], []
    for text, f in zip(EXPRESSIONS, programs(base, write)):
        expected = outcome(lambda: f(A.copy()), Exception)
        found = outcome(lambda: rg.jit(f)(A.copy()), (rg.Error, Exception))
        if isinstance(expected, Exception):
            if not isinstance(found, Exception):
                wrong.append(f"{text}: NumPy refuses it ({expected})")
        elif isinstance(found, Exception):
            refused.append((text, found))
            if not isinstance(found, rg.Error):
                wrong.append(f"{text}: {type(found).__name__}: {found}")
        elif not all(a.shape == b.shape and np.allclose(a, b, rtol=1e-6, equal_nan=True) for a, b in zip(found, expected)):
            wrong.append(f"{text}: another value than NumPy's")
    assert not wrong, "\n".join(wrong)
    surprising = [f"{text}: {error}" for text, error in refused if text not in REFUSED]
    assert not surprising, "\n".join(surprising)


# What is refused by name, on some base, though NumPy gives it.
REFUSED = {
    # Functions and ways of indexing that there are no rules for.
    "b[[True] + [False] * (len(b) - 1)]", "np.resize(b, b.shape)", "np.compress([True], b, axis=0)", "np.delete(b, 0, 0)", "np.insert(b, 0, 1.0, 0)",
    'np.einsum("...->...", b)', 'np.einsum("...i->...", b[..., None])', "np.apply_along_axis(lambda v: v, 0, b)", "np.choose([0], [b])",
    "np.lib.stride_tricks.sliding_window_view(b.ravel(), 2)", "b.data",
    # Shapes that depend on values.
    "b[b > 0]", "np.trim_zeros(b)", "np.unique(b)",
    # Elements of one array that lie in the same memory: NumPy warns of writing them.
    "np.broadcast_arrays(b, np.zeros((2, 1, 1)))[0]", "np.meshgrid(b.ravel(), b.ravel(), copy=False)[1]",
}


def test_there_are_enough_expressions():
    assert len(set(EXPRESSIONS)) >= 90


IN_PLACE = """
np.fill_diagonal(b, 3.0) | np.fill_diagonal(b, b[0, :2] * 2) | np.fill_diagonal(a, a[1], wrap=True)
np.copyto(b, 2.0) | np.copyto(b, b[0]) | np.copyto(b, 1.0, where=b > 0) | np.copyto(b, a[0, 0], where=[True, False] * (b.shape[1] // 2))
np.put(b, [0, 2], [1.0, 2.0]) | np.put(b, [1, -1, 3], b[0, 0]) | b.put([0], 9.0) | np.put(b, [0, 1, 2, 3], [1.0, 2.0])
np.place(b, b > 0, 5.0) | np.place(b, np.eye(*b.shape, dtype=bool), [1.0, 2.0, 3.0]) | np.putmask(b, b > 0, b * 2) | np.putmask(b, b > 0, [1.0, 2.0, 3.0])
np.put_along_axis(b, np.argmax(b, axis=0)[None], 0.5, axis=0) | np.put_along_axis(b, np.zeros((b.shape[0], 1), int), b[:, 1:2] * 3, axis=1)
np.add(b, 1.0, out=b) | np.multiply(b, b, b) | np.exp(b, out=b, where=b < 0) | np.add(b[0], b[1], out=b[1]) | np.sum(b, axis=0, out=b[0]) | np.cumsum(b, axis=1, out=b)
np.clip(b, 0, 1, out=b) | np.dot(b, np.eye(b.shape[1]), out=np.zeros(b.shape)) | np.matmul(b, np.eye(b.shape[1]), out=b) | np.maximum(b, 0.0, out=b)
b.sort() | b.sort(axis=0) | b.fill(4.0) | np.nan_to_num(b, copy=False) | np.add.at(b, [0, 0], b[1]) | np.negative(b, b)
b += b[0] | b -= 1 | b *= b.copy() | b /= 2 | b **= 2 | b //= 0.5 | b %= 0.7 | b @= np.eye(b.shape[1])
b += np.ones((1, *b.shape)) | b[0] += np.ones((1, b.shape[1])) | b *= np.ones((3, *b.shape)) | np.add(b, np.ones((2, *b.shape)), out=b) | np.add(b, 1, out=b[0]) | np.add(b, 1.0, out=np.zeros(b.shape, int))
np.broadcast_to(b, b.shape)[...] = 1.0 | np.diagonal(b)[0] = 1.0 | np.copyto(b.astype(int), 1.5) | np.copyto(np.zeros(3, int), b[0, :3])
"""

IN_PLACE = [part.strip() for line in IN_PLACE.strip().splitlines() for part in line.split(" | ")]

SIDES = {
    "taken": "if a[0, 0] < 100.0:\n        {}\n    else:\n        b[...] = 0.0",
    "not taken": "if a[0, 0] > 100.0:\n        {}\n    c = 1.0",
    "always": "{}",
    "in a loop": "for i in range(2):\n        {}",
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("base", ["contiguous", "strided", "transposed", "reversed"])
def test_changes_in_place_are_numpys(base, side):
    """Functions that change their arguments, also in branches that are not taken, and operators that NumPy refuses."""
    wrong = []
    for statement in IN_PLACE:
        if side == "in a loop" and "argmax" in statement:
            continue
        name, text = f"<{base}, {side}, {statement}>", f"def f(a):\n    b = {BASES[base]}\n    z = np.zeros(b.shape)\n    {SIDES[side].format(statement)}\n    z += b\n    return a, b * 1.0, z\n"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        scope = {"np": np}
        exec(compile(text, name, "exec"), scope)
        expected, found = outcome(lambda: scope["f"](A.copy()), Exception), outcome(lambda: rg.jit(scope["f"])(A.copy()), Exception)
        if side == "not taken" and isinstance(found, rg.Error) and isinstance(outcome(lambda: run_alone(base, statement), Exception), Exception):
            continue  # what NumPy would refuse if it came there may be refused before
        if isinstance(expected, Exception) != isinstance(found, Exception):
            wrong.append(f"{statement}: found {found}, NumPy {expected}")
        elif isinstance(found, Exception):
            if not isinstance(found, rg.Error):
                wrong.append(f"{statement}: {type(found).__name__} {found}")
        elif not all(x.shape == y.shape and np.allclose(x, y, rtol=1e-9) for x, y in zip(found, expected)):
            wrong.append(f"{statement}: another value than NumPy's")
    assert not wrong, "\n".join(wrong)


def run_alone(base, statement):
    scope = {"np": np, "a": A.copy()}
    exec(f"b = {BASES[base]}\n{statement}", scope)
    return [scope["b"]]
