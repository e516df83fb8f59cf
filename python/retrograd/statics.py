"""Arguments whose values decide about a Program, where a shape, an index or a branch needs them: numbers as Python has them, arrays by their bytes."""

import numpy as np


def value_of(leaf, scalar):
    """What the function sees of an argument whose value is known."""
    if np.ndim(leaf):
        return np.array(leaf, order="K")
    return leaf.item() if scalar in ("python", "large") else leaf[()]


def same(leaf, value):
    """Whether an argument has the value that something was compiled for, bit for bit."""
    if isinstance(value, (int, bool, str)):
        return leaf.item() == value
    value = np.asarray(value)
    return leaf.dtype == value.dtype and leaf.shape == value.shape and np.asarray(leaf).tobytes() == value.tobytes()


def shown(value):
    """A value in a message."""
    return f"an array of shape {value.shape}" if np.ndim(value) else repr(value)


def to_json(value):
    """A value in a file."""
    if type(value) in (int, bool):
        return value
    elements = np.asarray(value)
    return [type(value).__name__, str(elements.dtype), list(elements.shape), elements.tobytes().hex()]


def from_json(saved):
    if not isinstance(saved, list):
        return saved
    name, dtype, shape, data = saved
    elements = np.frombuffer(bytes.fromhex(data), dtype).reshape(shape)
    return elements if name == "ndarray" else elements.item() if name == "float" else elements[()]
