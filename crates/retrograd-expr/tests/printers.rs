//! Printed C and Rust, compiled and run: they compute what the expression is.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use retrograd::{Array, Type, eval};
use retrograd_expr::{Expr, Function, Op, program};

use crate::support::{Random, smooth};

const POINTS: [[f64; 3]; 6] = [
    [0.3, 0.7, 0.5],
    [0.9, 0.2, 0.1],
    [1.5, 2.25, 0.75],
    [-0.5, 0.25, -0.75],
    [2.0, 2.0, 3.0],
    [f64::NAN, 1.0, f64::NAN],
];

/// Every function, names that the languages keep for themselves, conditions, powers, and random expressions.
fn expressions() -> Vec<Expr> {
    let mut all: Vec<Expr> = vec![];
    for function in Function::ALL
        .iter()
        .filter(|function| !matches!(function, Function::And | Function::Or | Function::Not | Function::Select))
    {
        let args = ["x", "y"].map(Expr::variable);
        all.push(Expr::new(Op::Call(*function), args[..function.row().arity].to_vec()));
    }
    let texts = [
        "x",
        "2",
        "pi*e",
        "-x",
        "-(-x)",
        "x - (y - z)",
        "x/(y/z)",
        "-x^2",
        "(-x)^3",
        "x^4 - x^5 + x^(-2) + x^(1/2)",
        "1/3 + x",
        "x*1e300*1e-300",
        "0.1234567890123456789*x",
        "123456789012345678/987654321987654321*x",
        "if(x < y and not (y > z) or x == z, x, y)",
        "x < y",
        "x < y and y != z",
        "if(if(x > 0, y, z) > 1, min(x, max(y, z)), max(min(x, y), z))",
        "max(max(max(max(x, y), z), x*y), y*z)",
        "stop_gradient(x + y)*z",
        "fn + int*double",
        "y0*j1 + sign(sign) + sigmoid",
        "f + t1*t2*sin(t1*t2)",
        "θ*θ_1 + é",
        "inf*x",
        "x^y^z",
        "(x + y)^2*(x + y)",
        "-(x + y)*-(x - 1)",
        "not (x < y)",
        "x % 3",
        "mod(x, y)",
    ];
    all.extend(texts.iter().map(|text| Expr::parse(text).unwrap_or_else(|error| panic!("{error}"))));
    let mut random = Random(99);
    all.extend((0..100).map(|k| smooth(&mut random, 2 + k % 6)));
    // A chain that is shared throughout, and one that nests deeply.
    let x = Expr::variable("x");
    all.push((0..40).fold(x.clone(), |f, _| Expr::call(Function::Sin, [&f * &f + &x])));
    all.push((0..40).fold(x.clone(), |f, k| Expr::call(Function::Max, [f * 0.5, &x + k])));
    all
}

/// By the interpreter; conditions are 0 or 1.
fn expected(expr: &Expr, point: &[f64; 3]) -> f64 {
    let names = expr.free_vars();
    let inputs: Vec<(&str, Type)> = names.iter().map(|name| (name.as_str(), Type::f64([]))).collect();
    let arrays: Vec<Array> = (0..names.len()).map(|k| Array::scalar(point[k % 3])).collect();
    let found = eval::run(&program(std::slice::from_ref(expr), &inputs).unwrap(), &arrays).unwrap();
    if let retrograd::Data::Bool(holds) = found[0].data() {
        f64::from(u8::from(holds[0]))
    } else {
        found[0].as_f64()[0]
    }
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("printers");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// Compiles a source with a command, runs it, and compares each number that it prints.
fn agrees(source: &str, file: &str, compile: &[&str], tail: &[&str]) {
    let (path, binary) = (scratch(file), scratch(&format!("{file}.out")));
    std::fs::write(&path, source).unwrap();
    let made = Command::new(compile[0]).args(&compile[1..]).arg(&path).arg("-o").arg(&binary).args(tail).output();
    let made = made.unwrap_or_else(|error| panic!("`{}` is needed to compile what is printed: {error}", compile[0]));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let ran = Command::new(&binary).output().unwrap();
    let found: Vec<f64> = String::from_utf8(ran.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    let expressions = expressions();
    assert_eq!(found.len(), expressions.len() * POINTS.len());
    for (k, expr) in expressions.iter().enumerate() {
        for (l, point) in POINTS.iter().enumerate() {
            let (a, b) = (expected(expr, point), found[k * POINTS.len() + l]);
            let near = (a - b).abs() <= 1e-10 * (1.0 + a.abs()) || a == b || (a.is_nan() && b.is_nan());
            assert!(near, "{file}: {expr} at {point:?}: {a} is printed as code that gives {b}");
        }
    }
}

fn calls(call: impl Fn(usize, &str) -> String, number: impl Fn(f64) -> String) -> String {
    let mut out = String::new();
    for (k, expr) in expressions().iter().enumerate() {
        for point in POINTS {
            let args: Vec<String> = (0..expr.free_vars().len()).map(|k| number(point[k % 3])).collect();
            let _ = writeln!(out, "    {}", call(k, &args.join(", ")));
        }
    }
    out
}

#[test]
fn printed_c_computes_the_expression() {
    let mut source = String::from("#include <stdio.h>\n");
    for (k, expr) in expressions().iter().enumerate() {
        source += &expr.to_c(&format!("f{k}")).unwrap();
    }
    let number = |x: f64| if x.is_nan() { "NAN".to_owned() } else { format!("{x:?}") };
    let lines = calls(|k, args| format!("printf(\"%.17g\\n\", f{k}({args}));"), number);
    source += &format!("int main(void) {{\n{lines}    return 0;\n}}\n");
    agrees(&source, "printed.c", &["cc", "-O1", "-Werror=implicit-function-declaration"], &["-lm"]);
}

#[test]
fn printed_rust_computes_the_expression() {
    let mut source = String::from("#![allow(warnings)]\n");
    for (k, expr) in expressions().iter().enumerate() {
        source += &format!("mod m{k} {{\n{}}}\n", expr.to_rust("f").unwrap());
    }
    let number = |x: f64| if x.is_nan() { "f64::NAN".to_owned() } else { format!("{x:?}") };
    source +=
        &format!("fn main() {{\n{}}}\n", calls(|k, args| format!("println!(\"{{:?}}\", m{k}::f({args}));"), number));
    agrees(&source, "printed.rs", &["rustc", "--edition", "2024", "-O"], &[]);
}
