//! Commands on formulas.

use crate::support::{retrograd, scratch};

#[track_caller]
fn says(arguments: &[&str], out: &str) {
    retrograd(&scratch("formulas"), arguments, "").says(out);
}

#[test]
fn values_and_derivatives() {
    says(&["eval", "x*sin(y)^2", "--at", "x=2,y=pi/2"], "2\n");
    says(&["eval", "sum(v)*[1, x]", "--at", "v=[1,2,3],x=-1"], "[6, -6]\n");
    says(&["grad", "x^2*y", "--at", "x=3,y=2"], "value: 18\nx: 12\ny: 9\n");
    says(&["grad", "x^2*y", "--at", "x=3,y=2", "--wrt", "y", "--form", "json"], "{\"value\": 18, \"y\": 9}\n");
    says(&["hessian", "x^2*y + y^3", "--at", "x=2,y=3"], "x,x: 6\nx,y: 4\ny,x: 4\ny,y: 18\n");
    says(&["diff", "x^3", "--wrt", "x"], "3*x^2\n");
    says(&["diff", "(+ (* x x) y)", "--form", "sexpr", "--wrt", "y"], "1\n");
    retrograd(&scratch("formulas_in"), &["eval", "-", "--at", "x=2"], "x + 1\n").says("3\n");
    retrograd(&scratch("formulas_in"), &["grad", "-", "--at", "x=2"], "x^2\n").says("value: 4\nx: 4\n");
}

#[test]
fn forms() {
    says(&["simplify", "sin(x)^2 + cos(x)^2"], "1\n");
    says(&["simplify", "x/x"], "x/x\n");
    says(&["simplify", "(x*y)^n/y^n", "--assume", "integer(n) and y != 0"], "x^n\n");
    says(
        &["eval", "[[1, x], [0, 2]]", "--at", "x=3", "--form", "latex"],
        "\\begin{bmatrix} 1 & 3 \\\\ 0 & 2 \\end{bmatrix}\n",
    );
    says(&["solve", "a*x = b", "--wrt", "x", "--form", "json"], "[{\"x\": \"b/a\", \"unless_zero\": \"a\"}]\n");
    says(
        &["explain", "exp(log(x))", "--assume", "x > 0", "--form", "json"],
        "{\"start\": \"exp(log(x))\", \"steps\": [{\"form\": \"x\", \"because\": \"exp of log: exp(log(a)) = a, since \
         a > 0\"}]}\n",
    );
    says(&["simplify", "x/x", "--assume", "x != 0"], "1\n");
    says(&["expand", "(x + y)*(x - y)"], "x^2 - y^2\n");
    says(&["expand", "a*x + b*x", "--collect", "x", "--form", "latex"], "\\left(a + b\\right) \\, x\n");
    says(
        &["explain", "exp(log(x))", "--assume", "x > 0"],
        "  exp(log(x))\n= x    (exp of log: exp(log(a)) = a, since a > 0)\n",
    );
}

#[test]
fn equations_and_pictures() {
    says(&["solve", "x^2 - 5*x + 6 = 0"], "2\n3\n");
    says(&["solve", "a*x = b", "--wrt", "x"], "b/a    where a is not 0\n");
    assert!(
        retrograd(&scratch("formulas_pictures"), &["solve", "cos(x) = x", "--between", "0:1"], "")
            .ok()
            .starts_with("0.73908513321516")
    );
    assert!(
        retrograd(&scratch("formulas_pictures"), &["plot", "sin(x)", "--range", "0:6"], "")
            .ok()
            .starts_with("* sin(x)\no cos(x)\n")
    );
    assert!(retrograd(&scratch("formulas_pictures"), &["plot", "x^2", "--svg"], "").ok().starts_with("<svg"));
    assert!(
        retrograd(&scratch("formulas_pictures"), &["graph", "x*sin(y)"], "")
            .ok()
            .contains("n1 -> n2 [label=\"x*cos(y)\"];")
    );
    let picture = retrograd(&scratch("formulas_pictures"), &["graph", "x*sin(y) < 1", "--svg"], "").ok();
    assert!(picture.starts_with("<svg") && picture.contains(">&lt;</text>"));
    assert!(
        retrograd(&scratch("formulas_pictures"), &["solve", "exp(x) = 2", "--near", "1"], "")
            .ok()
            .starts_with("0.693147180559945")
    );
}

#[test]
fn mistakes_are_shown_in_the_formula() {
    let ran = retrograd(&scratch("formulas_wrong"), &["eval", "x + sin(y"], "");
    ran.fails(1, "error: expression:1: parse error: expected `)` or `,`, found the end\n  x + sin(y\n           ^\n");
    retrograd(&scratch("formulas_wrong"), &["eval", "x + 1"], "")
        .fails(1, "error: argument error: `x` is not given a value\n");
    retrograd(&scratch("formulas_wrong"), &["grad", "missing.rg"], "").fails_with(1, "cannot read missing.rg");
}
