"""The programs of `programs/`: how they are loaded, and what their derivatives are held against."""

import importlib.util
import pathlib
import types

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

FOLDER = pathlib.Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name):
    """The module of a program: its `example()` gives the function, its arguments, and those to differentiate by."""
    spec = importlib.util.spec_from_file_location(f"programs.{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def leaves(value):
    """The floats of an argument or a gradient, in order, whatever they are nested in; those of a dict by their keys, as JAX has them."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    if hasattr(value, "__dataclass_fields__"):
        return [leaf for name in value.__dataclass_fields__ for leaf in leaves(getattr(value, name))]
    return [np.asarray(value)]


def moved(value, steps):
    """A copy of an argument whose floats have moved by the next steps of an iterator."""
    if isinstance(value, dict):
        by_key = {key: moved(value[key], steps) for key in sorted(value)}
        return {key: by_key[key] for key in value}
    if isinstance(value, (tuple, list)):
        items = [moved(item, steps) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if hasattr(value, "__dataclass_fields__"):
        return type(value)(**{name: moved(getattr(value, name), steps) for name in value.__dataclass_fields__})
    step = next(steps)
    return value + step if np.ndim(value) else float(value + step)


def chosen(args, wrt):
    return args[wrt] if isinstance(wrt, int) else tuple(args[k] for k in wrt)


def difference(fresh, direction, scale):
    """The derivative of a program along a direction by central differences, extrapolated twice (Richardson)."""

    def value(step):
        f, args, wrt = fresh()
        numbers = (wrt,) if isinstance(wrt, int) else wrt
        steps = iter([step * d for d in direction])
        args = [moved(arg, steps) if k in numbers else arg for k, arg in enumerate(args)]
        return float(np.squeeze(f(*args)))

    rows = [(value(h) - value(-h)) / (2 * h) for h in (scale, scale / 2, scale / 4)]
    rows = [(4 * b - a) / 3 for a, b in zip(rows, rows[1:])]
    return (16 * rows[1] - rows[0]) / 15


def in_jax(module):
    """The function of a program, with `jax.numpy` for `numpy` in its whole module."""
    twin = types.ModuleType(module.__name__)
    source = pathlib.Path(module.__file__).read_text().replace("import numpy as np", "import jax.numpy as np", 1)
    before, _, example = source.rpartition("\ndef example():")
    exec(compile(before, module.__file__, "exec"), twin.__dict__)
    return getattr(twin, module.example()[0].__name__)


def jax_gradient(module):
    """Value and gradient by JAX, from the same source."""
    _, args, wrt = module.example()
    numeric = lambda value: jax.tree_util.tree_map(lambda leaf: jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf, value)
    return jax.value_and_grad(in_jax(module), argnums=wrt)(*map(numeric, args))
