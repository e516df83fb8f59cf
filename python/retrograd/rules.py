"""The table of NumPy's functions on traced arrays. A parameter of NumPy's is implemented by a rule, at its default, or refused by name."""

import functools
import inspect

import numpy as np

from . import errors

FUNCTIONS = {}


def implements(*functions, memory=False):
    """Enters a rule for NumPy functions. `memory` where a result may be a view of an argument, or an argument changes: then the rule is asked also where
    all elements are known; else NumPy computes with them."""

    def enter(rule):
        for function in functions:
            FUNCTIONS[function] = Rule(function, rule, memory)
        return rule

    return enter


class Rule:
    """What a NumPy function becomes. The rule takes the operands by position, and of NumPy's other parameters those that it implements, by name."""

    def __init__(self, function, rule, memory):
        self.function, self.rule, self.memory = function, rule, memory

    def __getattr__(self, name):
        """What follows from signatures is found out at the first call: of all rules it would take longer than the rest of the import."""
        if name not in ("any_number", "names", "defaults", "takes_any", "taken", "by_position"):
            raise AttributeError(name)
        self._read()
        return self.__dict__[name]

    def _read(self):
        function, rule = self.function, self.rule
        listed = parameters(function) or parameters(rule)
        own = list(inspect.signature(rule).parameters.values())
        self.any_number = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in own)
        self.names = [parameter.name for parameter in listed if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
        self.defaults = {parameter.name: parameter.default for parameter in listed}
        anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in listed)
        self.takes_any = anything and any(parameter.kind is parameter.VAR_KEYWORD for parameter in own)
        operands = [parameter.name for parameter in own if parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)]
        taken = dict(zip(self.names, operands))
        taken.update({parameter.name: parameter.name for parameter in own if (anything or parameter.name in self.defaults) and parameter.name not in operands})
        self.taken = taken
        ordered = zip(self.names, [parameter.name for parameter in own if parameter.kind is parameter.POSITIONAL_OR_KEYWORD])
        self.by_position = next((k for k, (name, mine) in enumerate([*ordered, (None, "")]) if taken.get(name) != mine), 0)

    def __call__(self, *args, **kwargs):
        if not kwargs and (self.any_number or len(args) <= self.by_position):
            return self.rule(*args)
        if not self.any_number:
            kwargs = {**dict(zip(self.names[self.by_position :], args[self.by_position :])), **kwargs}
            args = args[: self.by_position]
        passed = {}
        for name, value in kwargs.items():
            if value is np._NoValue:
                continue
            if name in self.taken:
                passed[self.taken[name]] = value
            elif self.takes_any and name not in self.defaults:
                passed[name] = value
            elif not _is_default(value, self.defaults.get(name)):
                raise errors.Unsupported(f"{name_of(self.function)} with {name}= is not supported", errors.here())
        return self.rule(*args, **passed)


@functools.lru_cache(maxsize=None)
def parameters(function):
    """The parameters of a function; None where Python cannot tell them."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=None)
def place_of(function, parameter):
    """Where a parameter of a NumPy function stands among those by position; None where it is none of them."""
    names = [item.name for item in parameters(function) or () if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    return names.index(parameter) if parameter in names else None


def name_of(function):
    """`np.linalg.solve`, `scipy.special.erf`: how one writes a function."""
    if isinstance(function, np.ufunc):
        return f"np.{function.__name__}" if getattr(np, function.__name__, None) is function else f"scipy.special.{function.__name__}"
    module = getattr(function, "__module__", None) or "numpy"
    # Modules with an underscore are where NumPy and SciPy keep what they show elsewhere.
    shown = ".".join(part for part in module.split(".") if not part.startswith("_"))
    name = getattr(function, "__name__", None) or getattr(function, "name", None) or type(function).__name__
    return f"{shown.replace('numpy', 'np', 1) if shown.split('.')[0] == 'numpy' else shown}.{name}"


def _is_default(value, default):
    if value is default or default is inspect.Parameter.empty and value is None:
        return True
    plain = (bool, int, float, str)
    return value is None and default is np._NoValue or isinstance(value, plain) and isinstance(default, plain) and value == default
