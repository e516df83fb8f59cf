//! LaTeX: fractions and roots as they are written by hand.

use super::infix::{Concatenate, strength};
use super::{Named, Piece, joined, text, written};
use crate::dag::{Dag, Id};
use crate::expr::{ArrayOp, Constant, Expr, Fold, Op};
use crate::function::Function;
use crate::number::Number;
use crate::syntax::power;

pub(super) fn print(expr: &Expr) -> String {
    let dag = Dag::of(expr);
    let named = Named::of(&dag);
    let name = |id: &Id| variable(named.names[*id].as_ref().expect("it is in the order because it is named"));
    let bindings: Vec<String> =
        named.order.iter().map(|id| format!("{} &= {} \\\\\n", name(id), entry(&dag, &named, *id))).collect();
    let body = entry(&dag, &named, dag.root());
    if bindings.is_empty() {
        body
    } else {
        format!("\\begin{{aligned}}\n{}& {body}\n\\end{{aligned}}", bindings.concat())
    }
}

fn entry(dag: &Dag, named: &Named, whole: Id) -> String {
    written(Piece::Entry(whole, 0), |id, least| match &named.names[id] {
        Some(name) if id != whole => vec![text(variable(name))],
        Some(_) | None => {
            let mut pieces = pieces(dag, id);
            if strength(dag.op(id)) < least {
                pieces.insert(0, text("\\left("));
                pieces.push(text("\\right)"));
            }
            pieces
        }
    })
}

const GREEK: [&str; 24] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Omega",
];

/// `theta` is a Greek letter, `x_1` and `x1` have subscripts, other long names are upright.
fn variable(name: &str) -> String {
    let letter = |name: &str| match name {
        greek if GREEK.contains(&greek) => format!("\\{greek}"),
        single if single.chars().count() == 1 => single.to_owned(),
        long => format!("\\mathrm{{{}}}", long.replace('_', "\\_")),
    };
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    match name.split_once('_') {
        Some((first, rest)) if !first.is_empty() && !rest.is_empty() => {
            format!("{}_{{{}}}", letter(first), rest.replace('_', "\\_"))
        }
        None if digits > 0 && digits < name.len() => format!("{}_{{{}}}", letter(&name[..digits]), &name[digits..]),
        Some(_) | None => letter(name),
    }
}

fn number(x: Number) -> String {
    match x {
        Number::Fraction(fraction) if fraction.denominator() != 1 => {
            let sign = if fraction.numerator() < 0 { "-" } else { "" };
            format!("{sign}\\frac{{{}}}{{{}}}", fraction.numerator().unsigned_abs(), fraction.denominator())
        }
        Number::Fraction(fraction) => fraction.to_string(),
        Number::Float(x) => match format!("{x:e}").split_once('e') {
            Some((mantissa, "0")) => mantissa.to_owned(),
            Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
            None => x.to_string(),
        },
    }
}

fn pieces(dag: &Dag, id: Id) -> Vec<Piece> {
    let args = dag.args(id);
    let around = |open: &str, close: &str| {
        let parts = joined(args.iter().map(|arg| Piece::Entry(*arg, 0)), ", ");
        [vec![text(open)], parts, vec![text(close)]].concat_pieces()
    };
    match dag.op(id) {
        Op::Number(x) => vec![text(number(*x))],
        Op::Constant(Constant::Infinity) => vec![text("\\infty")],
        Op::Constant(Constant::Pi) => vec![text("\\pi")],
        Op::Constant(Constant::E) => vec![text("e")],
        Op::Variable(name) => vec![text(variable(name))],
        Op::Call(function) => call(dag, *function, args),
        Op::Array(ArrayOp::Transpose) => vec![Piece::Entry(args[0], power::ATOM), text("^{\\top}")],
        Op::Array(ArrayOp::Inverse) => vec![Piece::Entry(args[0], power::ATOM), text("^{-1}")],
        Op::Array(ArrayOp::Dot) => {
            vec![Piece::Entry(args[0], power::PRODUCT), text(" \\cdot "), Piece::Entry(args[1], power::PRODUCT + 1)]
        }
        Op::Array(ArrayOp::Det) => around("\\det\\left(", "\\right)"),
        Op::Array(ArrayOp::Norm) => around("\\left\\lVert ", "\\right\\rVert"),
        Op::Array(array @ (ArrayOp::Sum | ArrayOp::Prod | ArrayOp::Mean | ArrayOp::Trace | ArrayOp::Any)) => {
            around(&format!("\\operatorname{{{}}}\\left(", array.name()), "\\right)")
        }
        Op::Einsum(subscripts) => {
            around(&format!("\\operatorname{{einsum}}_{{\\text{{{subscripts}}}}}\\left("), "\\right)")
        }
        Op::Stack => {
            let rows = joined(args.iter().map(|arg| Piece::Entry(*arg, 0)), " \\\\ ");
            [vec![text("\\begin{bmatrix} ")], rows, vec![text(" \\end{bmatrix}")]].concat_pieces()
        }
        Op::Index => {
            let indices = joined(args[1..].iter().map(|arg| Piece::Entry(*arg, 0)), ", ");
            [vec![Piece::Entry(args[0], power::ATOM), text("_{")], indices, vec![text("}")]].concat_pieces()
        }
        Op::Fold(fold, index) => {
            let sign = match fold {
                Fold::Sum => "\\sum",
                Fold::Product => "\\prod",
            };
            let head = vec![
                text(format!("{sign}_{{{}=", variable(index))),
                Piece::Entry(args[1], 0),
                text("}^{"),
                Piece::Entry(args[2], 0),
            ];
            [head, vec![text("} \\left("), Piece::Entry(args[0], 0), text("\\right)")]].concat_pieces()
        }
        Op::StopGradient => around("\\operatorname{stop\\_gradient}\\left(", "\\right)"),
        Op::Custom(custom) => {
            around(&format!("\\operatorname{{{}}}\\left(", custom.name.replace('_', "\\_")), "\\right)")
        }
    }
}

fn call(dag: &Dag, function: Function, args: &[Id]) -> Vec<Piece> {
    let own = strength(&Op::Call(function));
    let around = |open: &str, close: &str| vec![text(open), Piece::Entry(args[0], 0), text(close)];
    match function {
        Function::Div => {
            vec![text("\\frac{"), Piece::Entry(args[0], 0), text("}{"), Piece::Entry(args[1], 0), text("}")]
        }
        Function::Pow => vec![Piece::Entry(args[0], power::ATOM), text("^{"), Piece::Entry(args[1], 0), text("}")],
        Function::Neg => vec![text("-"), Piece::Entry(args[0], power::PRODUCT)],
        Function::Not => vec![text("\\lnot "), Piece::Entry(args[0], power::NOT)],
        Function::Mul => {
            let dot = if begins_with_digit(dag, args[1]) { " \\cdot " } else { " \\, " };
            vec![Piece::Entry(args[0], own), text(dot), Piece::Entry(args[1], own + 1)]
        }
        Function::Sqrt => around("\\sqrt{", "}"),
        Function::Cbrt => around("\\sqrt[3]{", "}"),
        Function::Exp => around("e^{", "}"),
        Function::Abs => around("\\left|", "\\right|"),
        Function::Floor => around("\\left\\lfloor ", "\\right\\rfloor"),
        Function::Ceil => around("\\left\\lceil ", "\\right\\rceil"),
        Function::Select => vec![
            text("\\begin{cases} "),
            Piece::Entry(args[1], 0),
            text(" & \\text{if } "),
            Piece::Entry(args[0], 0),
            text(" \\\\ "),
            Piece::Entry(args[2], 0),
            text(" & \\text{otherwise} \\end{cases}"),
        ],
        Function::Add
        | Function::Sub
        | Function::And
        | Function::Or
        | Function::Lt
        | Function::Le
        | Function::Gt
        | Function::Ge
        | Function::Eq
        | Function::Ne => {
            let left = if own == power::COMPARE { own + 1 } else { own };
            vec![
                Piece::Entry(args[0], left),
                text(format!(" {} ", function.row().latex)),
                Piece::Entry(args[1], own + 1),
            ]
        }
        Function::Sin
        | Function::Cos
        | Function::Tan
        | Function::Asin
        | Function::Acos
        | Function::Atan
        | Function::AtanTwo
        | Function::Sinh
        | Function::Cosh
        | Function::Tanh
        | Function::Asinh
        | Function::Acosh
        | Function::Atanh
        | Function::ExpTwo
        | Function::Expm
        | Function::Log
        | Function::LogTwo
        | Function::LogTen
        | Function::LogOnePlus
        | Function::Hypot
        | Function::Sign
        | Function::Round
        | Function::Trunc
        | Function::Erf
        | Function::Erfc
        | Function::Sigmoid
        | Function::Min
        | Function::Max => {
            let parts = joined(args.iter().map(|arg| Piece::Entry(*arg, 0)), ", ");
            [vec![text(format!("{}\\left(", function.row().latex))], parts, vec![text("\\right)")]].concat_pieces()
        }
    }
}

/// Two numbers side by side would read as one.
fn begins_with_digit(dag: &Dag, mut id: Id) -> bool {
    loop {
        match dag.op(id) {
            Op::Number(_) => return true,
            Op::Call(Function::Pow | Function::Mul) => id = dag.args(id)[0],
            Op::Call(_) | Op::Constant(_) | Op::Variable(_) | Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index => {
                return false;
            }
            Op::Fold(..) | Op::StopGradient | Op::Custom(_) => return false,
        }
    }
}
