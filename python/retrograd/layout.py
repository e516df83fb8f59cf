"""How the elements of an array lie in memory, as far as NumPy's results depend on it: which axes are the outer ones, gaps, directions.

A *shadow* is a NumPy array of a shape and strides without memory: only those are ever looked at. Whether a reshape is a view, and which
layout a result has, is asked of NumPy itself: of the shadow, or of a *sample*, a small array whose axes lie as those of the shadow do.
"""

import functools

import numpy as np


def shadow_of(shape, order=None):
    """The shadow of an array that is compact; its axes from the outermost, row-major without `order`."""
    return _compact(tuple(shape), None if order is None else tuple(order))


@functools.lru_cache(4096)
def _compact(shape, order):
    order = range(len(shape)) if order is None else order
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return _without_memory(shape, strides)


def shadow_like(elements):
    """The shadow of a NumPy array."""
    if elements.flags.c_contiguous:
        return shadow_of(elements.shape)
    return _without_memory(elements.shape, [stride // elements.itemsize for stride in elements.strides])


def is_row_major(shadow):
    return shadow is not None and shadow.flags.c_contiguous


def result_shadow(shape, function, shadows):
    """The shadow of what a NumPy function gives for arrays that lie like this, elements in any number; None where that is not known.

    `function` is given samples, which have two elements along an axis where the arrays have several.
    """
    if len(shape) < 2 or all(shadow is None or shadow.ndim < 2 for shadow in shadows) and None not in shadows:
        return shadow_of(shape)
    if any(shadow is None for shadow in shadows):
        return None
    if all(shadow.flags.c_contiguous for shadow in shadows):
        return shadow_of(shape)
    return compact(shape, function(*map(sample, shadows)))


def compact(shape, sample):
    """A compact shadow of a shape, whose axes lie as those of a sample do."""
    return shadow_of(shape, sorted(range(len(shape)), key=lambda axis: -sample.strides[axis]))


def allocated(elements, shadow):
    """A copy of elements that lie as a shadow says, which is compact."""
    if shadow is None or shadow.flags.c_contiguous or elements.ndim < 2:
        return np.array(elements, order="C")
    order = sorted(range(elements.ndim), key=lambda axis: -shadow.strides[axis])
    return np.array(elements.transpose(order), order="C").transpose([order.index(axis) for axis in range(len(order))])


def sample(shadow):
    """A small array whose axes lie as those of the shadow do."""
    axes = sorted((axis for axis in range(shadow.ndim) if shadow.strides[axis]), key=lambda axis: -abs(shadow.strides[axis]))
    extents = [min(n, 2) for n in shadow.shape]
    small = np.zeros([extents[axis] for axis in axes]).transpose([axes.index(axis) for axis in sorted(axes)])
    small = small[tuple(slice(None) if shadow.strides[axis] else None for axis in range(shadow.ndim))]
    small = np.broadcast_to(small, extents)
    return small[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in shadow.strides)]


def _without_memory(shape, strides):
    return np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), tuple(shape), [int(stride) for stride in strides])
