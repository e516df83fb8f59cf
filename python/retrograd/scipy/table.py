"""The table of SciPy's functions: from a name such as `special.gammaln` to what it becomes on traced arrays, or to why it is refused.

A rule takes the operands by position and those of SciPy's other parameters that it implements by name; others are refused unless they have
their default. Names are looked up in what the user's own import has loaded. Where all elements of the arguments are known, SciPy itself computes.
"""

import importlib
import sys
import types

import numpy as np

from .. import errors, functions
from ..array import local
from ..rules import Rule, name_of

RULES = {}  # by name: the rule, and whether it is asked even where all elements are known
REFUSED = {}  # by name: why, and what to write
CLASSES = {}  # by name of an object or a class: a function (object, method's name) -> rule or None
_TOPICS = (
    "special",
    "logarithms",
    "bessel",
    "integrals",
    "incomplete",
    "stats",
    "distributions",
    "multivariate",
    "descriptive",
    "linalg",
    "structured",
    "integrate",
    "spatial",
    "filters",
    "images",
    "signals",
    "interpolate",
    "ivp",
    "optimize",
    "sparse",
)
# Parameters that say how SciPy uses memory, or whether it looks for NaN first: results do not depend on them.
_WITHOUT_MEANING = {"overwrite_a", "overwrite_b", "overwrite_ab", "check_finite", "overwrite_x"}

_bound = {}  # by object of SciPy: its Rule, a reason as a string, or the methods of its class
_seen = set()


def implements(*names, always=False):
    """Enters a rule for functions of SciPy. `always` where it is asked even if all elements are known, since functions are among its arguments."""

    def enter(rule):
        for name in names:
            RULES[name] = (rule, always)
        return rule

    return enter


def refuse(why, *names):
    """Enters functions that are refused, and why."""
    for name in names:
        REFUSED[name] = why


def is_scipy(function):
    """Whether something that is called belongs to SciPy."""
    return "scipy" in sys.modules and str(getattr(function, "__module__", None)).startswith("scipy.")


def of_ufunc(function):
    """The rule of a ufunc of `scipy.special`; None where there is none."""
    _bind()
    found = _bound.get(function)
    return found.rule if isinstance(found, Rule) else None


def call(function, args, kwargs):
    """A call of a function, method or class of SciPy from traced code."""
    _bind()
    rule = _rule_of(function)
    always = isinstance(rule, Rule) and rule.memory
    if not always:
        known_args, known = functions._known(args)
        known_kwargs, also = functions._known(kwargs)
        if known and also:
            return _computed(function, known_args, known_kwargs, rule)
    if rule is None or isinstance(rule, str):
        _refused(function, rule)
    if isinstance(rule, Rule):
        kwargs = {key: value for key, value in kwargs.items() if key not in _WITHOUT_MEANING}
    return rule(*args, **kwargs)


def _computed(function, args, kwargs, rule):
    """What SciPy computes from known elements; a function among them may still depend on traced ones, which ends in an error of ours."""
    try:
        return _as_local(function(*args, **kwargs))
    except errors.Error:
        if isinstance(rule, Rule):
            raise
        _refused(function, rule)


def _refused(function, why):
    raise errors.Unsupported(
        f"{name_of(function)} is not supported" + (f": {why}" if why else ""), errors.here()
    ) from None


def _as_local(result):
    if type(result) in (tuple, list):
        return type(result)(_as_local(item) for item in result)
    return local(result)


def _rule_of(function):
    if isinstance(function, types.MethodType):
        owner, name = function.__self__, function.__name__
    else:
        owner, name = function, "__call__"
        try:
            found = _bound.get(function)
        except TypeError:
            found = None
        if found is not None:
            return found
    methods = _bound.get(("class", type(owner)))
    return methods(owner, name) if methods is not None else None


def _bind():
    """Looks up the names of modules of SciPy that have been loaded since the last time."""
    loaded = {name for name in sys.modules if name.startswith("scipy.") and name.count(".") <= 2}
    if loaded == _seen:
        return
    _seen.clear()
    _seen.update(loaded)
    for topic in _TOPICS:
        importlib.import_module(f"{__package__}.{topic}")
    for name, (rule, always) in RULES.items():
        found = _named(name)
        if found is not None and found not in _bound:
            _bound[found] = (
                Rule(found, rule, always) if not isinstance(found, np.ufunc) else _Ufunc(found, rule, always)
            )
    for name, why in REFUSED.items():
        found = _named(name)
        if found is not None and not isinstance(found, types.MethodType):
            _bound.setdefault(found, why)
    for name, methods in CLASSES.items():
        found = _named(name)
        if found is not None:
            _bound["class", found if isinstance(found, type) else type(found)] = methods


class _Ufunc(Rule):
    """A ufunc: NumPy has sorted its keywords out."""

    def __init__(self, function, rule, memory):
        self.function, self.rule, self.memory = function, rule, memory

    def __call__(self, *args):
        return self.rule(*args)


def _named(name):
    module, _, last = f"scipy.{name}".rpartition(".")
    return getattr(sys.modules.get(module), last, None)
