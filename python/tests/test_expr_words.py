"""What the description of formulas says, as a user would type it: values, mistakes, algebra; judged by Python, SymPy and mpmath."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import sympy

import retrograd as rg

VALUES = """
2^3^2 = 512; -2^2 = -4; (-2)^2 = 4; 2^-1 = 0.5; 2*-3 = -6; 1 - 2 - 3 = -4; 8/4/2 = 1; 8/4*2 = 4; 2**3 = 8; 7 % 3 = 1; -7 % 3 = 2
1e3 + 1.5e-2 = 1000.015; .5 + 2. = 2.5; pi = 3.141592653589793; 0.1 + 0.2 = 0.30000000000000004; 2^1000 = 1.0715086071862673e301
0^0 = 1; 1/0 = inf; 0/0 = nan; log(0) = -inf; sqrt(-1) = nan; (-8)^(1/3) = nan; cbrt(-8) = -2; 0*inf = nan; inf - inf = nan; 10^400 = inf
floor(-1.5) = -2; round(2.5) = 2; min(1, 2) = 1; hypot(3, 4) = 5; sum(k^2, k, 1, 10) = 385; prod(k, k, 1, 5) = 120; sum(k, k, 5, 4) = 0
prod(k, k, 5, 4) = 1; sum(sum(i*j, j, 1, i), i, 1, 3) = 25; [1, 2, 3][1] = 2; [[1, 2], [3, 4]][1, 0] = 3; mean([1, 2, 3]) = 2
det([[1, 2], [3, 4]]) = -2; trace([[1, 2], [3, 4]]) = 5; dot([1, 2], [3, 4]) = 11; norm([3, 4]) = 5; (- 3) = -3; (+ (* 2 (exp 0)) 1) = 3
if(1 > 0 and not (1 > 2), 5, 6) = 5; piecewise(1 < 0, -1, 1 < 1, 0, 1) = 1; sum(1, k, 1, 1000000) = 1000000
"""


@pytest.mark.parametrize("line", VALUES.strip().splitlines())
def test_values_without_variables(line):
    # Both kinds of definitions end in a semicolon, so that there are none in this table.
    for text, expected in (part.rsplit(" = ", 1) for part in line.split(";")):
        np.testing.assert_allclose(rg.expr(text)(), float(expected), rtol=1e-14, err_msg=text)


def test_definitions():
    for text, x, expected in [
        ("let a = x + 1; a*a", 2.0, 9.0), ("let a = 2; let b = a*x; b + a", 3.0, 8.0), ("f(t) = t^2 + 1; f(f(x))", 2.0, 26.0), ("f(a, b) = a*b; f(2, x) + f(x, x)", 3.0, 15.0),
        ("let q = x*x; f(y) = y + q; f(1)", 2.0, 5.0), ("diff(x^3, x, 2)", 2.0, 12.0), ("x/x", 0.0, math.nan), ("x^0", 0.0, 1.0), ("sum(x^k, k, 0, 3)", 2.0, 15.0),
    ]:
        np.testing.assert_allclose(rg.expr(text)(x), expected, err_msg=text)


MISTAKES = ["", "   ", "x +", "* x", "(x", "x)", "sin(", "sin()", "sin(x, y)", "f(x)", "x y", "2x", "x..y", "1.2.3", "[1, 2", "[]", "x[", "let a = 1", "let = 1; x", "f(x) = f(x - 1); f(3)",
            "sum(k, k, 1)", "if(1)", "diff(x)", "diff(x, 2)", "diff(x^2, x, -1)", "diff(x^2, x, 1.5)", "einsum(x, y)", "x = 1", "x == ", "@", "'", "#", "x & y", '"text"', "(+ 1", "(foo x)", "x^",
            "^x", "--", "1/", "pi(2)", "let pi = 3; pi", "f(x, x) = x; f(1, 2)", "sum(x, x, 1, 3) + x", "λ +", "x\0y", "1e400"]


def test_mistakes_are_refused():
    for text in MISTAKES:
        with pytest.raises(rg.Error):
            raise AssertionError(f"{text!r} is read as {rg.expr(text)}")


@pytest.mark.parametrize("text, column", [("x + * y", 4), ("x + sin(y", 9), ("2 * foo(x)", 4), ("x + y)", 5), ("é + * y", 4), ("1 + 2 $ 3", 6)])
def test_carets(text, column):
    with pytest.raises(rg.Error) as raised:
        rg.expr(text)
    line = next(line for line in str(raised.value).splitlines() if line.strip() == "^")
    source = next(line for line in str(raised.value).splitlines() if text in line)
    assert line.index("^") - source.index(text) == column


@pytest.mark.parametrize("begin, end", [("(", ")"), ("sin(", ")"), ("-", ""), ("[", "]"), ("2^", ""), ("if(x>0,1,", ")"), ("not ", "")])
def test_depth_is_read_or_refused(begin, end):
    for count in (1000, 100_000):
        try:
            rg.expr(begin * count + "x" + end * count)
        except rg.Error:
            pass


def test_derivatives_are_sympys():
    x, y = sympy.symbols("x y", real=True)
    names = {"x": x, "y": y, "sigmoid": lambda u: 1 / (1 + sympy.exp(-u)), "log1p": lambda u: sympy.log(1 + u), "expm1": lambda u: sympy.exp(u) - 1, "exp2": lambda u: 2**u,
             "log2": lambda u: sympy.log(u, 2), "log10": lambda u: sympy.log(u, 10), "hypot": lambda a, b: sympy.sqrt(a**2 + b**2), "abs": sympy.Abs}
    texts = """x^x; sin(x)^cos(y); atan2(x, y); log(x)/x; exp(-x^2/2); tanh(x*y); x^(1/3); (x^2 + y^2)^(3/2); asin(x/3); acos(x/3); acosh(x + 1); atanh(x/4); sinh(x)/cosh(x); sigmoid(x);
               erf(x); erfc(x); abs(x)*x; x^2.5; hypot(x, y); log10(x); log2(x); exp2(x); expm1(x); log1p(x); cbrt(x); 0*x + y*x; x*0.0 + x"""
    for text in (text.strip() for text in texts.split(";")):
        derivative = rg.expr(text, ["x", "y"]).diff("x").of("x", "y")
        theirs = sympy.diff(sympy.sympify(text.replace("^", "**"), locals=names), x)
        for point in ((0.37, 1.21), (1.9, 0.45)):
            assert derivative(*point) == pytest.approx(float(theirs.subs({x: point[0], y: point[1]}).evalf()), rel=1e-10, abs=1e-12), text


def test_series_are_mpmaths():
    functions = {name: getattr(mpmath, name) for name in "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt erf erfc atan2 cbrt hypot expm1 log1p".split()}
    functions |= {"sigmoid": lambda u: 1 / (1 + mpmath.exp(-u)), "exp2": lambda u: mpmath.mpf(2) ** u, "log2": lambda u: mpmath.log(u, 2), "log10": lambda u: mpmath.log(u, 10)}
    cases = """log1p(x) 0; sigmoid(x) 0; cbrt(x) 1; asinh(x) 0; atan2(x,2) 1; acos(x) 0; acosh(x) 2; atanh(x) 0; exp2(x) 0; expm1(x) 0; log2(x) 1; log10(x) 2; erfc(x) 0; hypot(x,3) 4;
               abs(x) -2; max(x,x^2) 3; tan(x) 0; tanh(x) 0.5; x^x 1; exp(sin(x)) 0; 1/(1-x) 0; sqrt(1+x) 0; log(x) 1; asin(x) 0.5; erf(x) 0; sin(x)/x 1; x^2.5 1; 2^x 0"""
    with mpmath.workdps(40):
        for text, at in (case.split() for case in cases.split(";")):
            found = [float(part()) for part in rg.expr(text).series("x", float(at), 6)]
            theirs = mpmath.taylor(lambda x: eval(text.replace("^", "**"), {**functions, "x": x}), mpmath.mpf(at), 6)
            np.testing.assert_allclose(found, [float(part) for part in theirs], rtol=1e-9, atol=1e-12, err_msg=text)


def test_simplification_keeps_where_formulas_are_defined():
    texts = """log(x^2); log(x) + log(y); log(x) - log(x); sqrt(x)*sqrt(y); sqrt(x*y); sqrt(x)^2; (x*y)/(x*y); x^2/x; x/x^2; 1/(1/x); (x^2 - 1)/(x - 1); exp(log(x) + log(y)); x^y*x^(-y);
               (x^2)^(1/2); (x^3)^(1/3); cbrt(x^3); asin(sin(x)); sin(asin(x)); tan(atan(x)); tan(x)*cos(x); sin(x)/tan(x); log(x/y); log(1/x); exp(x)*exp(-x); abs(x)/x; sign(x)*abs(x);
               x*(1/x); 0/x; 0*log(x); x^0.5*x^0.5; if(x > 0, x/x, 1); if(x > 0, log(x), log(-x)); max(x, y) + min(x, y); log(exp(x)*y); acosh(cosh(x)); tanh(atanh(x)); x^(-1)*x;
               expm1(log(x)); hypot(x, 0); atan2(0, x); floor(x)/floor(x); (1/x)/(1/x); log(x)^2/log(x)^2; exp(log(x))^0; (1/x)^2*(1/x)^(-2); log((1/x)^0)"""
    for text in (text.strip() for text in texts.split(";")):
        formula = rg.expr(text)
        simpler, names = formula.simplify(), formula.free_vars
        for point in itertools.product((-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0), repeat=len(names)):
            before, after = formula(*point), simpler.of(*names)(*point)
            assert math.isfinite(before) == math.isfinite(after), f"{text} became {simpler}: {before} and {after} at {point}"
            assert not math.isfinite(before) or after == pytest.approx(before, rel=1e-9, abs=1e-9), f"{text} became {simpler} at {point}"


def test_a_jacobian_of_a_list_of_formulas():
    x, y = rg.symbols("x y")
    matrix = np.stack([x**2 + y, x + y**2]).jacobian("x", "y")
    assert matrix(2.0, 3.0).tolist() == [[4.0, 1.0], [1.0, 6.0]] and str(matrix) == "[[2*x, 1], [1, 2*y]]"
    tall = np.stack([x, y, x * y]).jacobian("x")
    assert tall.of("x", "y")(2.0, 3.0).tolist() == [[1.0], [0.0], [3.0]]
