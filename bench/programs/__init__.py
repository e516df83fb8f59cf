"""The programs, by group. Each is a file of this folder with `SIZES`, `SMALL` and `program(random, **size)`; C, where there is some, has the same name."""

import importlib

GROUPS = {
    "w": ["w1", "w2", "w3", "w4", "w5"],
    "gradients": ["tanh", "lorenz", "logistic", "burgers", "nbody", "fem", "lstm", "gmm"],
    "npbench": ["jacobi", "heat", "seidel", "lu", "cholesky", "gramschmidt", "trisolv", "hdiff", "vadv", "softmax", "mlp"],
    "memory": ["oscillators", "nested", "nested_fem", "long"],
    "compile": ["straight"],
}
NAMES = [name for group in GROUPS.values() for name in group]


def load(name):
    """The module of a program."""
    return importlib.import_module(f"programs.{name}")


def sizes(name):
    """The names of a program's sizes, the small one first."""
    return ["small", *load(name).SIZES]


def make(name, size, random):
    """A program at a size."""
    module = load(name)
    return module.program(random, **(module.SMALL if size == "small" else module.SIZES[size]))
