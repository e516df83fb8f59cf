"""Formulas: `rg.expr("x*sin(y)")` and `rg.symbols("x y")` are functions for `rg.grad`, with symbolic derivatives and simplification."""

import inspect
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _native, errors
from .array import lift, traced
from .trace import current

# NumPy's functions by the names that the language has for them, where those differ.
UFUNCS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "power": "^", "float_power": "^", "negative": "neg", "absolute": "abs", "fabs": "abs",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "minimum": "min", "maximum": "max", "rint": "round", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
    "not_equal": "!=", "logical_and": "and", "logical_or": "or", "logical_not": "not", "matmul": "dot",
}
SAME = {
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "hypot", "sign", "floor", "ceil", "trunc",
}
FUNCTIONS = {np.sum: "sum", np.prod: "prod", np.mean: "mean", np.dot: "dot", np.transpose: "transpose", np.trace: "trace", np.linalg.det: "det", np.linalg.inv: "inverse",
             np.linalg.norm: "norm"}


def expr(text: str, args: Sequence[str] | None = None, functions: dict[str, Sequence[str] | None] | None = None) -> "Expr":
    """The expression that a formula is: a function of its variables, in the order in which they first appear, or of `args`.

        f = rg.expr("x*sin(y)^2 + exp(-x/2)")
        f(1.0, 2.0)                            # by machine code
        rg.grad(f, argnums=(0, 1))(1.0, 2.0)   # as any function; budgets, too
        f.diff("x").simplify()                 # an expression

    `functions` are known to this formula alone, by their definitions. One with a derivative of its own has a list: for each parameter its
    cotangent, of the parameters, the result `r` and its cotangent `ct`.

        rg.expr("3*step(x) + gauss(x)", functions={"gauss(x) = exp(-x^2)": None, "step(x) = if(x > 0, 1, 0)": ["ct"]})
    """
    defined = [(definition, None if backward is None else list(backward)) for definition, backward in (functions or {}).items()]
    return Expr(_native.Expr.parse(text, defined), args)


def symbols(names: str | Iterable[str]) -> Any:
    """Variables: `x, y = rg.symbols("x y")`. Operators and NumPy's functions make expressions of them."""
    names = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    made = [Expr(_native.Expr.variable(name)) for name in names]
    return made[0] if len(made) == 1 else tuple(made)


class Expr:
    """An expression of real numbers and arrays. It is called with values for `args`, and is a function for `rg.grad`, `rg.jit` and their relatives."""

    def __init__(self, native, args=None):
        self._native = native
        self._args = None if args is None else [str(arg) for arg in args]
        self._compiled = None

    @property
    def args(self):
        """Names of the arguments, in order."""
        if self._args is None:
            self._args = self._native.free_vars()
        return self._args

    def of(self, *args):
        """The same, as a function of these variables in this order."""
        return Expr(self._native, args)

    @property
    def __signature__(self):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in self.args])

    __name__ = "expression"

    def __call__(self, *args, **kwargs):
        if current() is None:
            if self._compiled is None:
                from .api import jit

                self._compiled = jit(self)
            return self._compiled(*args, **kwargs)
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise errors.ArgumentError(f"{self}: {error}", errors.here()) from None
        trace, handles = current(), [lift(value, "an argument") for value in bound.args]
        types = [trace.type(handle) for handle in handles]
        program = self._native.program([(name, dtype, list(shape)) for name, (dtype, shape) in zip(self.args, types)])
        (result,) = trace.tracer.call_program(program, handles, errors.here())
        return traced(result)

    def __str__(self):
        return str(self._native)

    def __repr__(self):
        return f"rg.expr({str(self)!r})"

    def _repr_latex_(self):
        return f"$\\displaystyle {self._native.latex()}$"

    def latex(self):
        """In LaTeX."""
        return self._native.latex()

    def sexpr(self):
        """As an S-expression."""
        return self._native.sexpr()

    def c(self, name="f"):
        """A C function of doubles."""
        return self._native.c(name)

    def rust(self, name="f"):
        """A Rust function of `f64`s."""
        return self._native.rust(name)

    @property
    def free_vars(self):
        """Its variables, in the order in which they first appear."""
        return self._native.free_vars()

    def diff(self, *names):
        """The derivative by a variable, then by the next, and so on."""
        native = self._native
        for name in names:
            native = native.diff(str(name))
        return Expr(native, self._args)

    def gradient(self, *names):
        """Derivatives by several variables, all of them unless told; together they are a small multiple of its size."""
        names = [str(name) for name in names] or self.free_vars
        return [Expr(part, self._args or self.args) for part in self._native.gradient(names)]

    def jacobian(self, *names):
        """Derivatives of the elements of a list, `np.stack([f, g])`, by several variables: a matrix with a row for each element."""
        names = [str(name) for name in names] or self.free_vars
        return Expr(self._native.jacobian(names), self._args or self.args)

    def simplify(self, *assume, cost="size"):
        """The simplest form that is found by laws whose conditions are known to hold: `f.simplify("x > 0")`. It is defined where this is."""
        return Expr(self._native.simplify(list(assume), cost), self.args)

    def explain(self, *assume):
        """Why the simplest form is equal, law by law."""
        return self._native.explain(list(assume))

    def expand(self):
        """Products of sums multiplied out."""
        return Expr(self._native.expand(), self.args)

    def collect(self, name):
        """Expanded, with equal powers of a variable together."""
        return Expr(self._native.collect(str(name)), self.args)

    def canonicalize(self):
        """A form that is the same for all expressions that are equal by arithmetic."""
        return Expr(self._native.canonicalize(), self.args)

    def matches(self, pattern):
        """Where a pattern is found: what stands for each of its names that begin with an underscore. `f.matches("sin(_a)*_b")`."""
        pattern = expr(pattern) if isinstance(pattern, str) else pattern
        return [{name: Expr(found) for name, found in bound.items()} for bound in self._native.matches(pattern._native)]

    def most_accurate(self, *assume, **ranges):
        """The form with the least error for its variables in these ranges, and its mean error in bits of a float32: `f.most_accurate(x=(1e3, 1e6))`."""
        form, bits = self._native.most_accurate(list(assume), [(name, float(low), float(high)) for name, (low, high) in ranges.items()])
        return Expr(form, self.args), bits

    def newton(self, name, start):
        """A number at which this is 0, by Newton's method from a start."""
        return self._native.newton(str(name), float(start))

    def bisect(self, name, low, high):
        """A number at which this is 0, between two where its signs differ."""
        return self._native.bisect(str(name), float(low), float(high))

    def graph(self, svg=False):
        """The computation graph with adjoints on its edges, in DOT or as SVG."""
        dot, picture = self._native.graph()
        return picture if svg else dot

    def is_linear(self, *names):
        """Whether it is linear in these variables together."""
        return self._native.is_linear([str(name) for name in names])

    def solve(self, name):
        """The real solutions of this = 0 by a variable: polynomials to degree 4."""
        return [Expr(root) for root in self._native.solve(str(name))]

    def integrate(self, name):
        """An antiderivative by a variable, by table; what the table does not reach is refused."""
        return Expr(self._native.integrate(str(name)), self._args)

    def limit(self, name, at):
        """The limit as a variable goes to a number, where power series give it."""
        return Expr(self._native.limit(str(name), native(at)))

    def series(self, name, at, order):
        """Coefficients of the power series in (name - at), up to an order."""
        return [Expr(part) for part in self._native.series(str(name), native(at), order)]

    def substitute(self, **values):
        """Variables replaced by expressions or numbers, all at once."""
        return Expr(self._native.substitute([(name, native(value)) for name, value in values.items()]))

    def equals(self, other):
        """Whether both have the same form; `==` makes a condition."""
        return self._native == native(other)

    __hash__ = object.__hash__

    def __bool__(self):
        raise errors.ArgumentError("whether an expression holds is known once it has values; use `rg.expr('if(c, a, b)')` or np.where")

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        return call("index", self, *index)

    @property
    def T(self):
        return call("transpose", self)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        name = ufunc.__name__
        if name == "square" and method == "__call__" and not kwargs:
            return call("^", inputs[0], 2)
        if method != "__call__" or kwargs or not (name in UFUNCS or name in SAME):
            return NotImplemented
        return call(UFUNCS.get(name, name), *inputs)

    def __array_function__(self, function, _types, args, kwargs):
        if function is np.where and not kwargs and len(args) == 3:
            return call("if", *args)
        if function is np.stack and not kwargs and len(args) == 1:
            return call("[]", *args[0])
        if function not in FUNCTIONS or kwargs:
            return NotImplemented
        return call(FUNCTIONS[function], *args)


def native(value):
    """What a value is as part of an expression."""
    if isinstance(value, Expr):
        return value._native
    if isinstance(value, (bool, np.bool_)):
        raise errors.DTypeError("conditions of expressions are comparisons, not True or False")
    if isinstance(value, numbers.Integral):
        return _native.Expr.integer(int(value)) if -(2**63) <= value < 2**63 else _native.Expr.float(float(value))
    if isinstance(value, numbers.Real):
        return _native.Expr.float(float(value))
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value):
        return _native.Expr.call("[]", [native(part) for part in value])
    if isinstance(value, np.ndarray):
        return native(value[()])
    raise errors.DTypeError(f"{type(value).__name__} cannot be part of an expression")


def call(name, *args):
    """A function of the language over expressions and numbers."""
    return Expr(_native.Expr.call(name, [native(arg) for arg in args]))


def _operator(name, swapped=False):
    def apply(self, other):
        try:
            return call(name, *((other, self) if swapped else (self, other)))
        except errors.DTypeError:
            return NotImplemented

    return apply


for _method, _name in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "^", "matmul": "dot", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "and", "or": "or",
}.items():
    setattr(Expr, f"__{_method}__", _operator(_name))
    if _method in {"add", "sub", "mul", "truediv", "pow", "matmul"}:
        setattr(Expr, f"__r{_method}__", _operator(_name, swapped=True))
Expr.__neg__ = lambda self: call("neg", self)
Expr.__pos__ = lambda self: self
Expr.__invert__ = lambda self: call("not", self)
Expr.__abs__ = lambda self: call("abs", self)


# Heads of SymPy's trees, by name: SymPy itself is not needed.
SYMPY = {
    "Abs": "abs", "Max": "max", "Min": "min", "ceiling": "ceil", "StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">", "GreaterThan": ">=", "Equality": "==",
    "Unequality": "!=", "And": "and", "Or": "or", "Not": "not",
    **{name: name for name in ("sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log sqrt cbrt sign floor erf erfc").split()},
}
RECIPROCALS = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh"}
CONSTANTS = {"Pi": "pi", "Exp1": "e", "Infinity": "inf"}


def from_sympy(args: Any, exprs: Any) -> Any:
    """An expression, or a list of them, from SymPy's; `args` are its symbols, in the order of the arguments.

        x, y = sympy.symbols("x y")
        f = rg.from_sympy((x, y), x * sympy.sin(y))
    """
    names = [str(arg) for arg in (args if isinstance(args, (list, tuple)) else [args])]
    if isinstance(exprs, (list, tuple)):
        return [from_sympy(args, one) for one in exprs]
    if getattr(exprs, "is_Matrix", False):
        return np.stack([np.stack([from_sympy(args, entry) for entry in row]) for row in exprs.tolist()]).of(*names)
    known = {}
    stack = [(exprs, False)]
    while stack:
        node, ready = stack.pop()
        if node in known:
            continue
        if not ready and node.args and type(node).__name__ != "Rational":
            stack += [(node, True), *((arg, False) for arg in node.args)]
            continue
        known[node] = _from_sympy(node, [known[arg] for arg in node.args])
    unknown = set(known[exprs].free_vars) - set(names)
    if unknown:
        raise errors.ArgumentError(f"the expression has variables that are not among the arguments: {', '.join(sorted(unknown))}")
    return known[exprs].of(*names)


def _from_sympy(node, args):
    head = type(node).__name__
    if getattr(node, "is_Symbol", False):
        return Expr(_native.Expr.variable(str(node)))
    if getattr(node, "is_Rational", False):
        return call("/", int(node.p), int(node.q)) if int(node.q) != 1 else Expr(native(int(node.p)))
    if getattr(node, "is_Float", False):
        return Expr(native(float(node)))
    if head in CONSTANTS:
        return call(CONSTANTS[head])
    if head == "NegativeInfinity":
        return -call("inf")
    if head in ("Add", "Mul", "Max", "Min", "And", "Or"):
        name = {"Add": "+", "Mul": "*"}.get(head) or SYMPY[head]
        result = args[0]
        for arg in args[1:]:
            result = call(name, result, arg)
        return result
    if head == "Pow":
        return call("sqrt", args[0]) if str(node.exp) == "1/2" else call("^", *args)
    if head == "ExprCondPair" or head == "Tuple":
        return args
    if head == "Piecewise":
        (*pieces, (value, last)) = args
        if last is not True:
            raise errors.Unsupported("a Piecewise of SymPy needs a last piece with the condition True")
        for branch, condition in reversed(pieces):
            value = call("if", condition, branch, value)
        return value
    if head in ("BooleanTrue", "BooleanFalse"):
        return head == "BooleanTrue"
    if head in SYMPY:
        return call(SYMPY[head], *args)
    if head in RECIPROCALS:
        return 1 / call(RECIPROCALS[head], *args)
    raise errors.Unsupported(f"SymPy's {head} has no form in expressions")
