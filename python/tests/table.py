"""The table of NumPy's functions: one entry a function, with samples. Its tests and its page in the documentation are made of it."""

import numpy as np

rng = np.random.default_rng(11)


def _positive_definite():
    a = rng.normal(size=(3, 3))
    return a @ a.T + 3.0 * np.eye(3)


# What samples are written in. Derivatives are held against finite differences at these points.
ORDINARY = {
    "x": rng.uniform(0.3, 2, size=6) * [1, -1, 1, 1, -1, -1], "y": rng.uniform(0.3, 2, size=6) * [1, 1, -1, 1, -1, 1], "p": rng.uniform(0.3, 3.0, size=6), "u": rng.uniform(-0.9, 0.9, size=6),
    "a": rng.uniform(1.1, 3.0, size=6), "m": rng.uniform(-2, 2, size=(3, 4)), "k": rng.uniform(-2, 2, size=(3, 4)), "s": _positive_definite(),
    "q": rng.normal(size=(3, 3)) + 3.0 * np.eye(3), "t": rng.uniform(-2, 2, size=(2, 3, 4)), "c": 1.7, "w": rng.uniform(-2, 2, size=3), "o": np.array([0.7]),
    "i": np.array([3, -7, 2, 5, -4, 6]), "j": np.array([2, 0, 1]), "n": np.array([0, 2, 1, 1, 0, 2]), "b": np.array([True, False, True, True, False, False]),
    "d": rng.uniform(-1, 1, size=(3, 4)) > 0, "g": np.array([-1.9, -0.8, 0.1, 0.9, 1.5, 2.1]), "l": 2,
}
# Ties, zeros, empty arrays, NaNs and infinities: values are NumPy's there, and gradients exist.
SPECIAL = {
    "z": np.array([0.0, -0.0, 1.0, 1.0, -2.0, 0.0]), "h": np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]), "e": np.zeros(0), "v": np.zeros((0, 3)),
    "f": np.array([-3.0, 2.1, 3.0, -1.9, 1e-310, 0.5]), "r": np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, np.nan], [3.0, 3.0, np.nan]]),
}
UNARY = (
    "sin cos tan arctan sinh cosh tanh arcsinh exp exp2 expm1 cbrt rint isnan isfinite fabs absolute sign floor ceil trunc isinf signbit deg2rad radians "
    "rad2deg degrees negative positive conjugate square logical_not"
).split()
BINARY = (
    "maximum minimum fmax fmin hypot arctan2 copysign fmod logaddexp logaddexp2 add subtract multiply true_divide floor_divide remainder less less_equal "
    "greater greater_equal equal not_equal logical_and logical_or logical_xor divmod"
).split()

SAMPLES = {
    **{f"np.{name}": [f"np.{name}(x)", f"np.{name}(z)", f"np.{name}(h)", f"np.{name}(e)", f"np.{name}(c)"] for name in UNARY},
    **{f"np.{name}": [f"np.{name}(x, p)", f"np.{name}(m, k)", f"np.{name}(m, c)", f"np.{name}(e, 1.0)"] for name in BINARY},
    **{f"np.{name}": [f"np.{name}(x, p)", f"np.{name}(m, 3.5 + k)", f"np.{name}(i, 3)"] for name in ("fmod", "floor_divide", "remainder", "divmod")},
    "np.tan": ["np.tan(u)"], "np.arcsin": ["np.arcsin(u)"], "np.arccos": ["np.arccos(u)"], "np.arctanh": ["np.arctanh(u)"], "np.arccosh": ["np.arccosh(a)"], "np.log1p": ["np.log1p(u)"],
    "np.log": ["np.log(p)", "np.log(h)"], "np.log2": ["np.log2(p)"], "np.log10": ["np.log10(p)"], "np.sqrt": ["np.sqrt(p)", "np.sqrt(np.abs(z))"],
    "np.reciprocal": ["np.reciprocal(p)"], "np.heaviside": ["np.heaviside(x, 0.5)", "np.heaviside(h, 0.5)"], "np.power": ["np.power(p, x)", "x ** 3", "p ** -0.5", "2.5 ** x"],
    "np.float_power": ["np.float_power(p, x)", "np.float_power(i, 2)"], "np.bitwise_and": ["i & 3"], "np.bitwise_or": ["i | 3"], "np.bitwise_xor": ["i ^ n"],
    "np.invert": ["~i", "~b"], "np.left_shift": ["i << 2"], "np.right_shift": ["i >> 1"], "np.modf": ["np.modf(x)", "np.modf(h)", "np.modf(z)"],
    "np.frexp": ["np.frexp(x)", "np.frexp(h)", "np.frexp(f)"], "np.ldexp": ["np.ldexp(x, i)", "np.ldexp(p, -3)", "np.ldexp(h, 2)"],
    "np.gcd": ["np.gcd(i, 12)", "np.gcd(i, n)"], "np.lcm": ["np.lcm(i, 4)", "np.lcm(i, n)"],
    "np.matmul": ["m @ k.T", "w @ m", "m.T @ w", "t @ k.T", "np.matmul(t, w @ m)"], "np.vecdot": ["np.vecdot(m, k)"], "np.matvec": ["np.matvec(s, w)"], "np.vecmat": ["np.vecmat(w, s)"],
    # Reductions
    "np.sum": ["np.sum(m)", "np.sum(t, axis=(0, 2))", "np.sum(m, axis=0, keepdims=True)", "np.sum(m, where=d, initial=2.0)", "np.sum(i)", "np.sum(b)", "np.sum(e)", "np.sum(m, dtype=np.float32)"],
    "np.prod": ["np.prod(m)", "np.prod(t, axis=1)", "np.prod(z)", "np.prod(e)", "np.prod(m, where=d, axis=0)"],
    "np.max": ["np.max(m)", "np.max(t, axis=1)", "np.max(z)", "np.max(h)", "np.max(m, where=d, initial=-9.0)"], "np.min": ["np.min(m)", "np.min(t, axis=(0, 1))", "np.min(z)"],
    "np.mean": ["np.mean(m)", "np.mean(t, axis=1, keepdims=True)", "np.mean(m, where=d)", "np.mean(i)", "np.mean(e)"],
    "np.var": ["np.var(m)", "np.var(m, axis=0, ddof=1)", "np.var(m, axis=1, keepdims=True)"], "np.std": ["np.std(m)", "np.std(m, axis=1)", "np.std(z)"],
    "np.any": ["np.any(m > 1.0, axis=0)", "np.any(e)"], "np.all": ["np.all(m > -1.0, axis=1)", "np.all(e)"], "np.argmax": ["np.argmax(m, axis=1)", "np.argmax(z)", "np.argmax(h)"],
    "np.argmin": ["np.argmin(m, axis=0)", "np.argmin(z)"], "np.ptp": ["np.ptp(m, axis=0)"], "np.count_nonzero": ["np.count_nonzero(z)", "np.count_nonzero(m > 0, axis=1)"],
    "np.average": ["np.average(m, weights=k * k)", "np.average(m, axis=0, weights=w * w)", "np.average(m, axis=1, weights=k * k, returned=True)", "np.average(m, axis=0)"],
    "np.median": ["np.median(m)", "np.median(t, axis=1)", "np.median(r, axis=0)", "np.median(m, axis=(0, 1))", "np.median(e)"],
    "np.quantile": ["np.quantile(m, 0.3)", "np.quantile(m, [0.0, 0.25, 1.0], axis=0)", "np.quantile(t, 0.7, axis=(0, 2), keepdims=True)", "np.quantile(r, 0.5, axis=1)", "np.quantile(o, 0.4)"]
    + [f"np.quantile(m, 0.3, axis=1, method={how!r})" for how in ("lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "normal_unbiased", "inverted_cdf",
                                                                  "averaged_inverted_cdf", "interpolated_inverted_cdf")],
    "np.percentile": ["np.percentile(x, 40)", "np.percentile(m, [10, 50], axis=1)"], "np.nanquantile": ["np.nanquantile(r, 0.3, axis=0)", "np.nanquantile(m, 0.3, axis=1)"],
    "np.nanpercentile": ["np.nanpercentile(r, [20, 60], axis=1)", "np.nanpercentile(x, 30)"], "np.nanmedian": ["np.nanmedian(r, axis=1)", "np.nanmedian(m, axis=0)", "np.nanmedian(r)"],
    "np.nansum": ["np.nansum(r, axis=0)", "np.nansum(m)"], "np.nanprod": ["np.nanprod(r, axis=1)", "np.nanprod(m)"], "np.nanmax": ["np.nanmax(r, axis=0)", "np.nanmax(m, axis=1)", "np.nanmax(i)"],
    "np.nanmin": ["np.nanmin(r, axis=1)", "np.nanmin(m)"], "np.nanmean": ["np.nanmean(r, axis=0)", "np.nanmean(m, axis=0)"], "np.nanvar": ["np.nanvar(r, axis=0)", "np.nanvar(m, axis=1, ddof=1)"],
    "np.nanstd": ["np.nanstd(r, axis=1)", "np.nanstd(m)"], "np.nanargmax": ["np.nanargmax(m, axis=1)", "np.nanargmax(r[0])", "np.nanargmax(np.array([np.nan, -np.inf, np.nan]) * c)"],
    "np.nanargmin": ["np.nanargmin(m, axis=0)", "np.nanargmin(r[2])"], "np.nancumsum": ["np.nancumsum(r, axis=1)", "np.nancumsum(x)"], "np.nancumprod": ["np.nancumprod(r, axis=0)", "np.nancumprod(x)"],
    "np.cov": ["np.cov(m)", "np.cov(x, y)", "np.cov(m, rowvar=False, bias=True)", "np.cov(x, y, aweights=p)", "np.cov(x, y, fweights=n + 1)", "np.cov(x)"],
    "np.corrcoef": ["np.corrcoef(m)", "np.corrcoef(x, y)"],
    # Scans and sorting
    "np.cumsum": ["np.cumsum(m, axis=1)", "np.cumsum(m)", "np.cumsum(i)"], "np.cumprod": ["np.cumprod(m, axis=0)", "np.cumprod(z)"],
    "np.cumulative_sum": ["np.cumulative_sum(x, include_initial=True)", "np.cumulative_sum(m, axis=1)"], "np.cumulative_prod": ["np.cumulative_prod(m, axis=0, include_initial=True)"],
    "np.sort": ["np.sort(m)", "np.sort(m, axis=0)", "np.sort(z)", "np.sort(h)"], "np.argsort": ["np.argsort(m, axis=0)", "np.argsort(z, stable=True)"],
    "np.lexsort": ["np.lexsort((x, n))"], "np.partition": ["np.sort(np.partition(x, 2)[:2])"], "np.argpartition": ["np.sort(np.argpartition(x, 2)[:2])"],
    # Along an axis
    "np.diff": ["np.diff(x)", "np.diff(m, n=2, axis=1)", "np.diff(m, axis=0, prepend=0.0)", "np.diff(b)"], "np.ediff1d": ["np.ediff1d(m)", "np.ediff1d(x, to_begin=0.0, to_end=[1.0, 2.0])"],
    "np.trapezoid": ["np.trapezoid(x)", "np.trapezoid(x, p)", "np.trapezoid(m, dx=0.5, axis=0)", "np.trapezoid(m, k, axis=1)"],
    "np.gradient": ["np.gradient(x)", "np.gradient(x, 0.5, edge_order=2)", "np.gradient(x, g)", "np.gradient(x, g, edge_order=2)", "np.gradient(m)", "np.gradient(m, 2.0, axis=1)", "np.gradient(m, 1.0, w, axis=(1, 0))"],
    "np.interp": ["np.interp(x, g, y)", "np.interp(u, g, y, left=-1.0, right=c)", "np.interp(f, g, y)", "np.interp(x, np.cumsum(p), y)", "np.interp(h, g, y)", "np.interp(x, g, y, period=4.9)", "np.interp(x, o, o)"],
    "np.unwrap": ["np.unwrap(np.cumsum(3.0 * x))", "np.unwrap(3.0 * m, axis=0)", "np.unwrap(4.0 * x, period=2.5)"],
    "np.convolve": ["np.convolve(x, w)", "np.convolve(x, w, 'same')", "np.convolve(w, x, 'valid')"], "np.correlate": ["np.correlate(x, w)", "np.correlate(x, w, 'full')"],
    "np.apply_along_axis": ["np.apply_along_axis(np.cumsum, 0, m)", "np.apply_along_axis(np.sum, 1, t)"], "np.apply_over_axes": ["np.apply_over_axes(np.sum, t, (0, 2))"],
    "np.piecewise": ["np.piecewise(x, [x < 0, x >= 0], [lambda v: np.exp(v), lambda v: v * v])", "np.piecewise(x, [x < -1], [-1.0, lambda v: np.log(v + 2.5)])"],
    # Picking
    "np.take": ["np.take(m, j, axis=1)", "np.take(m, [0, -1, 5])", "np.take(x, i, mode='wrap')", "np.take(x, i, mode='clip')"],
    "np.take_along_axis": ["np.take_along_axis(m, np.argsort(m, axis=1), axis=1)", "np.take_along_axis(m, np.array([[0], [2], [-1]]), axis=1)"],
    "np.choose": ["np.choose(n, [x, y, p])", "np.choose(n, [x, 2.0, y])", "np.choose(i, [x, y], mode='wrap')"], "np.compress": ["np.compress([True, False, True], m, axis=0)", "np.sum(np.compress(x > 0, y))"],
    "np.extract": ["np.extract([True, False, True, False, False, True], x)", "np.sum(np.extract(x > y, x) ** 2)"], "np.searchsorted": ["np.searchsorted(g, x)", "np.searchsorted(np.sort(x), y, side='right')", "np.searchsorted(g, h)", "np.searchsorted(e, x)"],
    "np.digitize": ["np.digitize(x, g)", "np.digitize(x, g[::-1], right=True)", "np.digitize(x, np.sort(y))"], "np.bincount": ["np.bincount(n, weights=x, minlength=4)", "np.bincount(n, minlength=3)"],
    "np.histogram": ["np.histogram(x, bins=4)", "np.histogram(x, bins=g, weights=y)", "np.histogram(x, bins=3, range=(-2.0, 2.0), density=True)"], "np.histogram2d": ["np.histogram2d(x, y, bins=3, weights=p)", "np.histogram2d(x, y, (2, 3), range=((-2.0, 2.0), (-1.0, 2.0)), density=True)", "np.histogram2d(x, y, [g, g])"], "np.histogram_bin_edges": ["np.histogram_bin_edges(x, 4)"],
    "np.isin": ["np.isin(i, [3, 5])", "np.isin(z, 1.0, invert=True)"], "np.nonzero": ["np.sum(x[np.nonzero(x > 0)] ** 2)"], "np.argwhere": ["np.sum(np.argwhere(x > 0) * x[0])", "x[np.argwhere(x > -9.0)[-1][0]]"], "np.flatnonzero": ["np.sum(m.ravel()[np.flatnonzero(m > 0)])"],
    "np.unravel_index": ["np.unravel_index(np.argmax(m), (3, 4))"], "np.ravel_multi_index": ["np.ravel_multi_index((n, n), (3, 4))"], "np.where": ["np.where(d, m, k)", "np.where(x > 0, x, 2.0)"],
    "np.select": ["np.select([x > 1, x > 0], [x * 2, x * x], 3.0)"], "np.clip": ["np.clip(m, -0.5, 1.0)", "np.clip(m, None, 1.0)", "np.clip(x, y, p)", "np.clip(h, -1.0, 1.0)"],
    "np.nan_to_num": ["np.nan_to_num(h)", "np.nan_to_num(x)"], "np.round": ["np.round(g / 3, 1)", "np.round(z)"], "np.fix": ["np.fix(x)"], "np.sinc": ["np.sinc(x)", "np.sinc(u / 8)", "np.sinc(z)"],
    "np.i0": ["np.i0(x)", "np.i0(30.0 * p)", "np.i0(z)"], "np.isclose": ["np.isclose(x, y, atol=0.5)", "np.isclose(h, h, equal_nan=True)"], "np.allclose": ["np.allclose(x, x + 1e-12)"],
    "np.array_equal": ["np.array_equal(x, x)", "np.array_equal(h, h, equal_nan=True)"], "np.array_equiv": ["np.array_equiv(m, m[0])"], "np.isposinf": ["np.isposinf(h)"], "np.isneginf": ["np.isneginf(h)"],
    "np.imag": ["np.imag(x)"], "np.real": ["np.real(x)"], "np.real_if_close": ["np.real_if_close(x)"], "np.angle": ["np.angle(z)", "np.angle(x, deg=True)"], "np.isreal": ["np.isreal(x)"], "np.iscomplex": ["np.iscomplex(x)"],
    "np.iscomplexobj": ["np.iscomplexobj(x)"], "np.isrealobj": ["np.isrealobj(x)"],
    "np.linspace": ["np.linspace(c, 2.0 * c, 5)", "np.linspace(w, 1.0, 4, endpoint=False)"], "np.logspace": ["np.logspace(c, 2.0, 4)"], "np.geomspace": ["np.geomspace(c, 9.0, 4)"],
    # Shapes
    "np.reshape": ["np.reshape(m, (2, 6))", "np.reshape(m, -1, order='F')"], "np.ravel": ["np.ravel(m)", "np.ravel(m.T, order='K')"], "np.transpose": ["np.transpose(t, (2, 0, 1))"], "np.permute_dims": ["np.permute_dims(m)"],
    "np.matrix_transpose": ["np.matrix_transpose(t)"], "np.swapaxes": ["np.swapaxes(t, 0, 2)"], "np.rollaxis": ["np.rollaxis(t, 2)"], "np.moveaxis": ["np.moveaxis(t, 0, -1)"], "np.expand_dims": ["np.expand_dims(m, (0, 2))"],
    "np.squeeze": ["np.squeeze(m[:1])", "np.squeeze(o)"], "np.broadcast_to": ["np.broadcast_to(w, (2, 3))"], "np.broadcast_arrays": ["np.broadcast_arrays(w, m.T)[0]"], "np.copy": ["np.copy(m)"], "np.astype": ["np.astype(x, np.float32)"],
    "np.flip": ["np.flip(m, 0)", "np.flip(t)"], "np.flipud": ["np.flipud(m)"], "np.fliplr": ["np.fliplr(m)"], "np.rot90": ["np.rot90(m)", "np.rot90(t, 3, (1, 2))"], "np.roll": ["np.roll(m, 2, axis=1)", "np.roll(x, -1)", "np.roll(e, 1)"],
    "np.pad": ["np.pad(m, ((1, 2), (0, 3)), constant_values=1.5)", "np.pad(x, 2, constant_values=(1.0, 2.0))"]
    + [f"np.pad(m, (2, 1), mode={how!r})" for how in ("edge", "wrap", "reflect", "symmetric", "linear_ramp", "maximum", "minimum", "mean", "median")]
    + ["np.pad(x, 9, mode='reflect')", "np.pad(x, 3, mode='reflect', reflect_type='odd')", "np.pad(x, 2, mode='mean', stat_length=2)", "np.pad(x, 3, mode='linear_ramp', end_values=(c, 1.0))"],
    "np.tril": ["np.tril(m)", "np.tril(t, -1)"], "np.triu": ["np.triu(m, 1)"], "np.tile": ["np.tile(m, (2, 3))"], "np.repeat": ["np.repeat(m, 2, axis=1)", "np.repeat(m, [1, 0, 2, 1], axis=1)"],
    "np.atleast_1d": ["np.atleast_1d(c)"], "np.atleast_2d": ["np.atleast_2d(x)"], "np.atleast_3d": ["np.atleast_3d(m)"], "np.resize": ["np.resize(w, (2, 4))", "np.resize(m, 5)"], "np.kron": ["np.kron(w, x)", "np.kron(m, s)"],
    "np.lib.stride_tricks.sliding_window_view": ["np.lib.stride_tricks.sliding_window_view(x, 3)", "np.lib.stride_tricks.sliding_window_view(m, (2, 2))", "np.lib.stride_tricks.sliding_window_view(m, 2, axis=1)"],
    "np.meshgrid": ["np.meshgrid(x, w)[0]", "np.meshgrid(x, w, indexing='ij')[1]"], "np.diagonal": ["np.diagonal(m, 1)", "np.diagonal(t, 0, 1, 2)"], "np.diag": ["np.diag(x)", "np.diag(m, -1)", "np.diag(w, 2)"], "np.diagflat": ["np.diagflat(m[:2, :2], 1)"],
    "np.tril_indices_from": ["m[np.tril_indices_from(m)]"], "np.triu_indices_from": ["s[np.triu_indices_from(s, 1)]"], "np.diag_indices_from": ["s[np.diag_indices_from(s)]"],
    "np.ix_": ["m[np.ix_(j, n[:2])]"], "np.result_type": ["np.sum(m, dtype=np.result_type(m, np.float32))"], "np.common_type": ["np.sum(m, dtype=np.common_type(m))"],
    "np.fft.fftshift": ["np.fft.fftshift(m)", "np.fft.fftshift(x)"], "np.fft.ifftshift": ["np.fft.ifftshift(m, axes=1)"],
    "np.shape": ["np.shape(m)"], "np.ndim": ["np.ndim(m)"], "np.size": ["np.size(m, 0)"], "np.zeros_like": ["np.zeros_like(m) + m"], "np.ones_like": ["np.ones_like(m) * m"], "np.empty_like": ["np.empty_like(m).shape"], "np.full_like": ["np.full_like(m, c)"],
    # Joins
    "np.concatenate": ["np.concatenate([m, k])", "np.concatenate([m, k], axis=None)", "np.concatenate([x, e, i])"], "np.stack": ["np.stack([m, k], axis=1)"], "np.hstack": ["np.hstack([x, y])", "np.hstack([m, k])"], "np.vstack": ["np.vstack([x, y])"],
    "np.dstack": ["np.dstack([m, k])", "np.dstack([x, y])"], "np.column_stack": ["np.column_stack([x, y])"], "np.block": ["np.block([[m, k], [k, m]])", "np.block([x, c])"], "np.append": ["np.append(x, m)", "np.append(m, k, axis=1)"],
    "np.insert": ["np.insert(x, 2, c)", "np.insert(m, 1, w, axis=1)", "np.insert(x, [0, 3, -1], [1.0, 2.0, 3.0])", "np.insert(x, l, y[:2])", "np.insert(m, [1, 3], k[:, :2], axis=1)"],
    "np.delete": ["np.delete(x, 2)", "np.delete(m, [0, -1], axis=1)", "np.delete(x, l)", "np.delete(x, slice(1, 4))", "np.delete(x, [True, False, False, True, False, False])"],
    "np.split": ["np.split(x, 3)[1]", "np.split(x, [2, 5])[1]"], "np.array_split": ["np.array_split(x, 4)[0]"], "np.hsplit": ["np.hsplit(m, 2)[1]"], "np.vsplit": ["np.vsplit(m, 3)[2]"], "np.dsplit": ["np.dsplit(t, 2)[0]"], "np.unstack": ["np.unstack(m, axis=1)[2]"],
    # Polynomials
    "np.polyval": ["np.polyval(w, x)", "np.polyval(w, c)"], "np.polyfit": ["np.polyfit(g, x, 2)", "np.polyfit(g, x, 1, w=p)"], "np.vander": ["np.vander(w)", "np.vander(x, 3, increasing=True)"], "np.polyadd": ["np.polyadd(x, w)"], "np.polysub": ["np.polysub(w, x)"],
    "np.polymul": ["np.polymul(x, w)"], "np.polyder": ["np.polyder(x, 2)"], "np.polyint": ["np.polyint(x)", "np.polyint(x, 2, k=[1.0, 2.0])"], "np.poly": ["np.poly(w)"],
    # Products and matrices
    "np.dot": ["np.dot(m, k.T)", "np.dot(x, y)", "np.dot(t, k.T)", "np.dot(c, x)"], "np.inner": ["np.inner(m, k)"], "np.outer": ["np.outer(x, w)"], "np.vdot": ["np.vdot(m, k)"], "np.tensordot": ["np.tensordot(t, m, axes=([1, 2], [0, 1]))", "np.tensordot(m, k.T, 1)"],
    "np.cross": ["np.cross(w, s)"], "np.trace": ["np.trace(s)", "np.trace(t, 1, 1, 2)"],
    "np.einsum": ["np.einsum('ij,kj->ik', m, k)", "np.einsum('...ij,jk', t, k.T)", "np.einsum(m, [0, 1], k, [2, 1], [0, 2])", "np.einsum('ii', s)", "np.einsum('...,...', m, k)", "np.einsum('i...->...', t)", "np.einsum('ij,ij->i', m, k[:1])"],
    "np.linalg.solve": ["np.linalg.solve(q, w)", "np.linalg.solve(q, s)"], "np.linalg.inv": ["np.linalg.inv(q)"], "np.linalg.det": ["np.linalg.det(q)"], "np.linalg.slogdet": ["np.linalg.slogdet(q)"], "np.linalg.cholesky": ["np.linalg.cholesky(s)"],
    "np.linalg.qr": ["np.linalg.qr(q)", "np.linalg.qr(m.T, mode='r')", "np.linalg.qr(m)"], "np.linalg.lstsq": ["np.linalg.lstsq(m.T, x[:4])[:2]", "np.linalg.lstsq(m, w)[0]", "np.linalg.lstsq(m.T, k.T)[0]", "np.linalg.lstsq(m.T, x[:4])[3]", "np.linalg.lstsq(np.outer(w, x[:2]), w, rcond=1e-9)[2]"],
    "np.linalg.norm": ["np.linalg.norm(x)", "np.linalg.norm(m)", "np.linalg.norm(m, axis=1)", "np.linalg.norm(t, axis=(0, 2))", "np.linalg.norm(m, 'fro', keepdims=True)"]
    + [f"np.linalg.norm(x, {ord})" for ord in ("1", "2", "3", "0.5", "-1", "-2", "0", "np.inf", "-np.inf")] + [f"np.linalg.norm(m, {ord})" for ord in ("1", "-1", "2", "-2", "'nuc'", "np.inf", "-np.inf")]
    + ["np.linalg.norm(t, 1, axis=(2, 0), keepdims=True)", "np.linalg.norm(t, 2, axis=(2, 0))", "np.linalg.norm(t, 'nuc', axis=(1, 2), keepdims=True)"],
    "np.linalg.vector_norm": ["np.linalg.vector_norm(m)", "np.linalg.vector_norm(m, axis=0, ord=3)"], "np.linalg.matrix_norm": ["np.linalg.matrix_norm(t)", "np.linalg.matrix_norm(m, ord=1)"], "np.linalg.cond": ["np.linalg.cond(q)", "np.linalg.cond(m, -2)", "np.linalg.cond(t)", "np.linalg.cond(q, 1)", "np.linalg.cond(q, 'fro')"],
    # Signs of vectors are ours: they are compared without.
    "np.linalg.eigvalsh": ["np.linalg.eigvalsh(s)", "np.linalg.eigvalsh(q)", "np.linalg.eigvalsh(q, UPLO='U')"],
    "np.linalg.eigh": ["np.linalg.eigh(s)[0]", "np.abs(np.linalg.eigh(s + np.diag([0.0, 5.0, 12.0]))[1])", "np.abs(np.linalg.eigh(q, 'U').eigenvectors[:, 0])", "r = np.linalg.eigh(s); (r[1] * np.log(r[0])) @ r[1].T"],
    "np.linalg.svd": ["np.linalg.svd(m, compute_uv=False)", "np.linalg.svd(t).S", "np.abs(np.linalg.svd(m, full_matrices=False)[2])", "np.abs(np.linalg.svd(m)[0])", "np.abs(np.linalg.svd(m.T)[2])", "np.abs(np.linalg.svd(q).U)",
                      "np.abs(np.linalg.svd(t.transpose(0, 2, 1), False)[0])", "r = np.linalg.svd(m, False); (r[0] * np.sqrt(r[1])) @ r[2]", "np.linalg.svd(s, hermitian=True)[1]", "np.abs(np.linalg.svd(s + np.diag([0.0, 5.0, 12.0]), hermitian=True)[2])"],
    "np.linalg.svdvals": ["np.linalg.svdvals(m)", "np.linalg.svdvals(t)"], "np.linalg.pinv": ["np.linalg.pinv(m)", "np.linalg.pinv(t)", "np.linalg.pinv(q, rcond=0.1)", "np.linalg.pinv(s, hermitian=True)", "np.linalg.pinv(m.T, rtol=None)"],
    "np.linalg.matrix_rank": ["np.linalg.matrix_rank(m)", "np.linalg.matrix_rank(np.outer(x, y))", "np.linalg.matrix_rank(t, tol=1.5)", "np.linalg.matrix_rank(x)", "np.linalg.matrix_rank(s, hermitian=True)"],
    "np.linalg.matrix_power": [f"np.linalg.matrix_power(q, {power})" for power in (0, 1, 2, 3, 5, -2)], "np.linalg.multi_dot": ["np.linalg.multi_dot([w, s, m, k.T, w])", "np.linalg.multi_dot([m, k.T, q])"],
    "np.linalg.tensorsolve": ["np.linalg.tensorsolve(np.reshape(s, (3, 1, 3)), np.reshape(w, (3, 1)))"], "np.linalg.tensorinv": ["np.linalg.tensorinv(np.reshape(q, (3, 1, 3)), ind=2)"], "np.linalg.trace": ["np.linalg.trace(s)"], "np.linalg.diagonal": ["np.linalg.diagonal(s)"],
    "np.linalg.outer": ["np.linalg.outer(x, w)"], "np.linalg.cross": ["np.linalg.cross(w, s)"], "np.linalg.matmul": ["np.linalg.matmul(m, k.T)"], "np.linalg.tensordot": ["np.linalg.tensordot(m, k, axes=2)"], "np.linalg.vecdot": ["np.linalg.vecdot(m, k)"],
    "np.linalg.matrix_transpose": ["np.linalg.matrix_transpose(m)"],
    # In place: what they change is the result
    "np.copyto": ["r = x.copy(); np.copyto(r, y, where=b); r"], "np.fill_diagonal": ["r = m.copy(); np.fill_diagonal(r, c); r"], "np.put": ["r = m.copy(); np.put(r, [0, -1], [c, 2.0]); r", "r = x.copy(); np.put(r, i, y, mode='wrap'); r"],
    "np.place": ["r = x.copy(); np.place(r, x > 0, c); r"], "np.putmask": ["r = x.copy(); np.putmask(r, x > 0, y); r"], "np.put_along_axis": ["r = m.copy(); np.put_along_axis(r, np.array([[0], [2], [1]]), c, axis=1); r"],
    # Creation
    "np.array": ["np.array([c, 2.0, c * c])", "np.array([[c, x[0]], [1.0, y[1]]])"], "np.asarray": ["np.asarray([x, y])"], "np.asanyarray": ["np.asanyarray(m)"], "np.ascontiguousarray": ["np.ascontiguousarray(m.T)"], "np.asfortranarray": ["np.asfortranarray(m)"],
    "np.require": ["np.require(m, requirements='F')"], "np.full": ["np.full((2, 3), c)"], "np.empty": ["np.empty((2, 3)).shape"], "np.zeros": ["np.zeros((3, 4), order='F') + m"], "np.ones": ["np.ones(6) * x"],
}
SAMPLES.update({"np.amax": ["np.amax(m)"], "np.amin": ["np.amin(m)"], "np.around": ["np.around(g / 3, 1)"]})

# Forms that are no functions: how an index, a mask, a keyword or a method is written.
FORMS = {
    "index": [
        "m[j, n[:3]]", "m[:, j]", "t[:, j, 1]", "t[j[:2] // 2, :, n[:2]]", "t[0, :, j]", "t[..., j]", "t[:, None, j]", "m[np.ix_([0, 2], [1, 3])]", "x[[0, -1, 2]]", "m[[0, 1], [2, 3]]", "x[n]", "x[np.zeros(0, int)]", "m[j][:, n]",
        "t[1, j[:, None], n[None, :3]]", "t[:, j, ::2]", "t[j[:2] // 2, ..., n[:2]]", "m[None, j]", "m[j, None]", "m[np.arange(3), j]", "m[l, j]", "t[:, l - 1, j]", "m[True]", "m[False].shape", "o[j * 0]", "m[-1, [0, 0, 3]]",
    ],
    "assignment by arrays": [
        "r = m.copy(); r[j, n[:3]] = w; r", "r = m.copy(); r[:, j] = c; r", "r = t.copy(); r[:, j, n[:3]] = w; r", "r = t.copy(); r[0, :, j] = m[:3, :3]; r", "r = m.copy(); r[np.ix_([0, 2], [1, 3])] *= c; r", "r = x.copy(); r[[0, 0, 2]] += w; r",
        "r = m.copy(); r[j, 1] -= w; r", "r = m.copy(); r[[True, False, True]] = k[:2]; r", "r = x.copy(); r[n] = y; r", "r = np.zeros((3, 4)); r[j, j] = w; r", "r = np.zeros(6); r[[1, 2]] = 5.0; r * x",
    ],
    "ufunc.at": [
        "r = x.copy(); np.add.at(r, n, y); r", "r = m.copy(); np.add.at(r, (j, n[:3]), w); r", "r = m.copy(); np.add.at(r, (slice(None), [0, 0, 2]), s); r", "r = m.copy(); np.subtract.at(r, (j, [1, 1, 1]), c); r", "r = p.copy(); np.multiply.at(r, n, a); r",
        "r = x.copy(); np.maximum.at(r, [0, 2], y[3:5]); r", "r = p.copy(); np.divide.at(r, n, a); r", "r = t.copy(); np.power.at(r, (0, [1, 1]), 2.0); r", "r = x.copy(); np.negative.at(r, [0, 2]); r", "r = x.copy(); np.add.at(r, slice(1, 3), c); r",
    ],
    "mask, known": ["x[np.array([True, False, True, False, True, False])]", "m[np.arange(12).reshape(3, 4) % 2 == 0]", "m[np.array([True, False, True])]", "m[:, [True, False, True, True]]", "m[[True, False, True], 1:3]"],
    "mask, traced": [
        "np.sum(x[x > 0])", "np.sum(np.log(x[x > 0]))", "np.mean(np.sqrt(x[x > 0]) / p[x > 0])", "np.max(x[b])", "np.min(y[b] * c)", "np.sum(m[d] ** 2)", "np.prod(m[m > 0])", "np.var(x[b])", "np.std(x[b], ddof=1)", "np.sum(m[d[:, 0]], axis=1).sum()", "np.median(x[x > -1])",
        "r = x.copy(); r[x > 0] = y[x > 0] * 2.0; r", "r = x.copy(); r[b] *= c; r", "r = x.copy(); r[x < 0] = 0.0; r", "r = m.copy(); r[:, m[0] > 0] = c; r", "r = m.copy(); r[d] += k[d]; r", "x[b] @ y[b]", "np.any(x[b] > 1.0)", "x[x > 0].size", "np.sum(m[:, b[:4]])", "np.linalg.norm(x[x > 0])",
        "np.sum(x[b] / np.sum(x[b] ** 2))", "np.sum(np.where(x[b] > 0, np.log(np.abs(x[b])), 0.0))", "np.argmax(x[b])", "np.sum(x[np.where(x > 0)])", "np.sum(m[np.nonzero(m > 0)])", "np.sum(np.clip(x[b], -0.5, 0.5))", "np.mean(m[d])", "np.sum(np.arccosh(a[b]))", "np.sum(x[n[b]])", "np.sum(np.cumsum(x[b]))",
    ],
    "ufunc.reduce and its like": [
        "np.add.reduce(m)", "np.multiply.reduce(m, axis=1)", "np.maximum.reduce(m, axis=None)", "np.subtract.reduce(m, axis=1)", "np.divide.reduce(p)", "np.hypot.reduce(m, axis=0)", "np.fmax.reduce(r, axis=1)", "np.bitwise_xor.reduce(i)", "np.add.reduce(m, axis=(0, 1), keepdims=True)",
        "np.add.accumulate(m, axis=1)", "np.maximum.accumulate(x)", "np.minimum.accumulate(m, axis=1)", "np.divide.accumulate(p)", "np.add.reduceat(x, [0, 3, 1])", "np.multiply.reduceat(m, [0, 2], axis=1)", "np.subtract.outer(x, w)", "np.multiply.outer(m, w)", "np.maximum.outer(x, g / 7)", "np.logaddexp.reduce(x)",
        "np.add.reduce(x, initial=c)", "np.logical_xor.reduce(b)", "np.subtract.reduce(x, initial=2.0)",
    ],
    "keywords": [
        "np.add(x, y, out=np.zeros(6))", "np.sum(m, axis=0, out=np.zeros(4))", "np.multiply(m, 2.0, where=d, out=m.copy())", "np.exp(x, dtype=np.float64)", "np.add(i, 1, dtype=np.float64)", "np.copy(m, order='F').ravel(order='K')", "np.maximum(x, y, out=x.copy())", "np.cumsum(x, out=np.zeros(6))", "np.ones((3, 4), order='F') * m",
        "np.max(m, axis=0, initial=0.5)", "np.prod(m, axis=1, initial=c)",
    ],
    "series of polynomials": [
        *[f"np.polynomial.{name}(u, w)" for name in ("polynomial.polyval", "chebyshev.chebval", "legendre.legval", "laguerre.lagval", "hermite.hermval", "hermite_e.hermeval")],
        "np.polynomial.polynomial.polyval(x, m)", "np.polynomial.chebyshev.chebval(c, x)", "np.polynomial.legendre.legval(u, o)", "np.polynomial.hermite.hermval(e, w)",
    ],
    "methods": [
        "m.flat[5] * x", "m.flat[2:7]", "r = m.copy(); r.flat[1:4] = w; r", "r = m.copy(); r.flat = 2.0 * c; r", "t.mT", "r = x.copy(); r.sort(); r", "np.sum([v * v for v in m.flat])", "m.cumsum()", "m.argmax()", "x.searchsorted(c)", "m.clip(-1.0, 1.0)", "m.diagonal(1)", "m.compress([True, False, True], axis=0)", "n.choose([x, y, p])",
        "m.nonzero()[0].size", "np.fromiter((v * v for v in x), float)", "r = x.copy(); np.place(r, b, [1.0, 2.0]); r", "np.bincount(n, weights=x)", "x.nbytes", "np.vectorize(lambda v: v * v + 1.0)(x)", "np.vectorize(np.hypot)(m, 1.5)", "np.r_[x, 1.0, w]", "np.r_[0:3, x]", "np.c_[x, y]", "np.c_[m, k]",
    ],
}
