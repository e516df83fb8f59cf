"""`scipy.ndimage`: derivatives by differences, extremes of windows, interpolation of images, sums over labels."""

import itertools

import numpy as np

from .. import errors
from ..functions import _as_array, payload_of
from .filters import _extended, _number, _sequence, correlate1d, gaussian_filter, uniform_filter1d
from .table import implements


def _all_axes(x, axes):
    return range(x.ndim) if axes is None else [k % x.ndim for k in ([axes] if isinstance(axes, int) else axes)]


@implements("ndimage.uniform_filter")
def uniform_filter(input, size=3, mode="reflect", cval=0.0, origin=0, *, axes=None):
    x = 1.0 * _as_array(input)
    axes = _all_axes(x, axes)
    for axis, size_, mode_, origin_ in zip(axes, *[_sequence(value, len(axes)) for value in (size, mode, origin)]):
        x = uniform_filter1d(x, int(size_), axis, mode_, cval, origin_) if size_ > 1 else x
    return x


def _differences(name, smoothing):
    @implements(f"ndimage.{name}")
    def rule(input, axis=-1, mode="reflect", cval=0.0):
        x = 1.0 * _as_array(input)
        modes = _sequence(mode, x.ndim)
        axis = axis % x.ndim
        result = correlate1d(x, np.array([-1.0, 0.0, 1.0]), axis, modes[axis], cval, 0)
        for k in range(x.ndim):
            if k != axis:
                result = correlate1d(result, np.array(smoothing), k, modes[k], cval, 0)
        return result

    return rule


_differences("sobel", [1.0, 2.0, 1.0])
_differences("prewitt", [1.0, 1.0, 1.0])


@implements("ndimage.laplace")
def laplace(input, mode="reflect", cval=0.0, *, axes=None):
    x = 1.0 * _as_array(input)
    axes = _all_axes(x, axes)
    return sum(correlate1d(x, np.array([1.0, -2.0, 1.0]), k, mode_, cval, 0) for k, mode_ in zip(axes, _sequence(mode, len(axes))))


def _second_derivatives(input, sigma, mode, cval, axes, options):
    x = 1.0 * _as_array(input)
    axes = _all_axes(x, axes)
    sigmas = list(np.ravel(_number(sigma, "sigma")).tolist()) if np.ndim(sigma) else [_number(sigma, "sigma")] * len(axes)
    for k in range(len(axes)):
        yield lambda order, k=k: gaussian_filter(x, sigmas, [order if j == k else 0 for j in range(len(axes))], mode, cval, axes=tuple(axes), **options)


@implements("ndimage.gaussian_laplace")
def gaussian_laplace(input, sigma, mode="reflect", cval=0.0, *, axes=None, **options):
    return sum(of(2) for of in _second_derivatives(input, sigma, mode, cval, axes, options))


@implements("ndimage.gaussian_gradient_magnitude")
def gaussian_gradient_magnitude(input, sigma, mode="reflect", cval=0.0, *, axes=None, **options):
    """Where all slopes are 0 its derivative is taken as 0."""
    square = sum(of(1) ** 2 for of in _second_derivatives(input, sigma, mode, cval, axes, options))
    some = square > 0
    return np.where(some, np.sqrt(np.where(some, square, 1.0)), 0.0)


# Extremes and medians of windows


def _windows(x, shape, mode, cval, origins):
    """All shifted copies of an image that a window of this shape has."""
    before = [m // 2 + origin for m, origin in zip(shape, origins)]
    padded = _extended(x, [(first, m - 1 - first) for m, first in zip(shape, before)], mode, cval)
    return [padded[tuple(slice(k, k + n) for k, n in zip(place, x.shape))] for place in itertools.product(*[range(m) for m in shape])]


def _footprint(x, size, footprint, axes, name):
    if axes is not None:
        raise errors.Unsupported(f"scipy.ndimage.{name} with axes= is not supported", errors.here())
    if footprint is not None:
        known = payload_of(footprint)
        if known is None:
            raise errors.Unsupported(f"scipy.ndimage.{name} with a traced footprint is not supported", errors.here())
        return np.asarray(known, bool)
    if size is None:
        raise errors.ArgumentError("no footprint or filter size provided", errors.here())
    return np.ones([int(n) for n in _sequence(size, x.ndim)], bool)


def _picked(name, pick):
    @implements(f"ndimage.{name}")
    def rule(input, size=None, footprint=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
        """Element for element of the window; where several are the same, the derivative is shared."""
        x = _as_array(input)
        where = _footprint(x, size, footprint, axes, name)
        shifted = _windows(x, where.shape, mode, cval, _sequence(origin, x.ndim))
        return pick(np.stack([image for image, taken in zip(shifted, where.ravel()) if taken]))

    return rule


_picked("maximum_filter", lambda stack: np.max(stack, axis=0))
_picked("minimum_filter", lambda stack: np.min(stack, axis=0))
_picked("median_filter", lambda stack: np.sort(stack, axis=0)[stack.shape[0] // 2])


def _picked_line(name, pick):
    @implements(f"ndimage.{name}")
    def rule(input, size, axis=-1, mode="reflect", cval=0.0, origin=0):
        x = _as_array(input)
        along = [k == axis % x.ndim for k in range(x.ndim)]
        return pick(np.stack(_windows(x, [size if on else 1 for on in along], mode, cval, [origin if on else 0 for on in along])), axis=0)

    return rule


_picked_line("maximum_filter1d", np.max)
_picked_line("minimum_filter1d", np.min)


@implements("signal.medfilt")
def medfilt(volume, kernel_size=None):
    """Outside of the array there are zeros."""
    x = _as_array(volume)
    shape = [int(n) for n in _sequence(3 if kernel_size is None else kernel_size, x.ndim)]
    if any(n % 2 == 0 for n in shape):
        raise errors.ArgumentError("Each element of kernel_size should be odd.", errors.here())
    stack = np.stack(_windows(x, shape, "constant", 0.0, [0] * x.ndim))
    return np.sort(stack, axis=0)[stack.shape[0] // 2]


# Interpolation


def _outside(at, n, mode):
    """(A place within an axis of n elements for each of these, whether there is none) by SciPy's modes."""
    if mode == "constant":
        return at, (at < 0) | (at > n - 1)
    if mode == "nearest":
        return np.clip(at, 0, n - 1), None
    if mode == "mirror":
        span = 2.0 * max(n - 1, 1)
        at = np.abs(at) % span
        return np.where(at > n - 1, span - at, at), None
    if mode in ("reflect", "grid-mirror"):
        # The edge is half an element outside.
        span = 2.0 * n
        at = (at + 0.5) % span
        return np.clip(np.where(at > n, span - at, at) - 0.5, 0, n - 1), None
    raise errors.Unsupported(f"scipy.ndimage interpolation with mode={mode!r} is not supported; constant, nearest, mirror and reflect are", errors.here())


def _interpolated(x, coordinates, order, mode, cval, name):
    """Multilinear, or the nearest element, at a list of coordinates, one array an axis."""
    if order not in (0, 1):
        raise errors.Unsupported(f"scipy.ndimage.{name} with order={order} is not supported; orders 0 and 1 are", errors.here())
    lower, fraction, missing = [], [], None
    for at, n in zip(coordinates, x.shape):
        at, beyond = _outside(at, n, mode)
        if beyond is not None:
            missing = beyond if missing is None else missing | beyond
        if order == 0:
            lower.append(np.clip(np.floor(at + 0.5), 0, n - 1).astype(np.int64))
        else:
            below = np.clip(np.floor(at), 0, max(n - 2, 0))
            lower.append(below.astype(np.int64))
            fraction.append(at - below)
    if order == 0:
        result = x[tuple(lower)]
    else:
        result = 0.0
        for corner in itertools.product((0, 1), repeat=x.ndim):
            weight = 1.0
            for up, part in zip(corner, fraction):
                weight = weight * (part if up else 1.0 - part)
            result = result + weight * x[tuple(np.minimum(k + up, n - 1) for k, up, n in zip(lower, corner, x.shape))]
    return result if missing is None else np.where(missing, cval, result)


@implements("ndimage.map_coordinates")
def map_coordinates(input, coordinates, order=3, mode="constant", cval=0.0, prefilter=True):
    x, coordinates = 1.0 * _as_array(input), 1.0 * _as_array(coordinates)
    if coordinates.shape[0] != x.ndim:
        raise errors.ShapeError("invalid shape for coordinate array", errors.here())
    return _interpolated(x, [coordinates[k] for k in range(x.ndim)], order, mode, cval, "map_coordinates")


def _grid(shape, scale):
    """Coordinates of an image of this shape; `scale` takes those of an axis to places of the other image."""
    ranges = [scale(k, np.arange(n, dtype=float)) for k, n in enumerate(shape)]
    return [np.broadcast_to(np.reshape(at, [-1 if j == k else 1 for j in range(len(shape))]), shape) for k, at in enumerate(ranges)]


@implements("ndimage.shift")
def shift(input, shift, order=3, mode="constant", cval=0.0, prefilter=True):
    x = 1.0 * _as_array(input)
    by = [shift] * x.ndim if np.ndim(shift) == 0 else [shift[k] for k in range(x.ndim)]
    return _interpolated(x, _grid(x.shape, lambda k, at: at - by[k]), order, mode, cval, "shift")


@implements("ndimage.zoom")
def zoom(input, zoom, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    x = 1.0 * _as_array(input)
    if grid_mode or payload_of(zoom) is None:
        raise errors.Unsupported("scipy.ndimage.zoom with grid_mode=True or a traced zoom is not supported", errors.here())
    factors = _sequence(np.asarray(payload_of(zoom)).tolist(), x.ndim)
    shape = [int(round(n * factor)) for n, factor in zip(x.shape, factors)]
    scale = lambda k, at: at * ((x.shape[k] - 1) / (shape[k] - 1) if shape[k] > 1 else 0.0)
    return _interpolated(x, _grid(shape, scale), order, mode, cval, "zoom")


@implements("ndimage.affine_transform")
def affine_transform(input, matrix, offset=0.0, output_shape=None, order=3, mode="constant", cval=0.0, prefilter=True):
    x, matrix = 1.0 * _as_array(input), 1.0 * _as_array(matrix)
    n = x.ndim
    if matrix.shape not in ((n,), (n, n)):
        raise errors.Unsupported(f"scipy.ndimage.affine_transform with a matrix of shape {matrix.shape} is not supported; give the linear part and offset=", errors.here())
    shape = x.shape if output_shape is None else tuple(output_shape)
    at = np.stack(_grid(shape, lambda k, places: places))
    moved = np.tensordot(matrix, at, 1) if matrix.ndim == 2 else np.reshape(matrix, (n,) + (1,) * n) * at
    moved = moved + (offset if np.ndim(offset) == 0 else np.reshape(_as_array(offset), (n,) + (1,) * n))
    return _interpolated(x, [moved[k] for k in range(n)], order, mode, cval, "affine_transform")


# Sums over labels


def _labelled(name, fold):
    @implements(f"ndimage.{name}")
    def rule(input, labels=None, index=None):
        x = 1.0 * _as_array(input)
        if labels is None:
            return fold(x, np.ones(x.shape, bool))
        labels = np.broadcast_to(_as_array(labels), x.shape)
        if index is None:
            return fold(x, labels > 0)
        index = _as_array(index)
        if not index.ndim:
            return fold(x, labels == index)
        return np.reshape(np.stack([fold(x, labels == index[place]) for place in np.ndindex(*index.shape)]), index.shape)

    return rule


def _mean(x, mask):
    return np.sum(np.where(mask, x, 0.0)) / np.sum(mask)


def _variance(x, mask):
    return _mean((x - _mean(x, mask)) ** 2, mask)


for _name in ("sum", "sum_labels"):
    _labelled(_name, lambda x, mask: np.sum(np.where(mask, x, 0.0)))
_labelled("mean", _mean)
_labelled("variance", _variance)
def _deviation(x, mask):
    """The root of the variance; at 0 its derivative is 0."""
    variance = _variance(x, mask)
    return np.where(variance == 0, 0.0, np.sqrt(np.where(variance == 0, 1.0, variance)))


_labelled("standard_deviation", _deviation)


@implements("ndimage.center_of_mass")
def center_of_mass(input, labels=None, index=None):
    if index is not None:
        raise errors.Unsupported("scipy.ndimage.center_of_mass with index= is not supported", errors.here())
    x = 1.0 * _as_array(input)
    x = x if labels is None else np.where(_as_array(labels) > 0, x, 0.0)
    return tuple(np.sum(x * at) / np.sum(x) for at in _grid(x.shape, lambda k, places: places))
