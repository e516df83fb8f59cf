//! C and Rust: a function of doubles, in which what is used more than once is computed once.

use retrograd::{Error, ErrorKind, Pos};

use super::{Fresh, Piece, text, written};
use crate::dag::{Dag, Id};
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::Number;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Rust,
}

/// Integer powers up to this one are products.
const PRODUCTS: i64 = 4;
/// Where an expression in one line would nest deeper, a local variable takes a part of it.
const NESTING: usize = 20;

pub(super) fn print(expr: &Expr, name: &str, language: Language) -> Result<String, Error> {
    let dag = Dag::of(expr);
    if let Some(entry) = dag.entries.iter().find(|entry| !has_form(&entry.op)) {
        let message = format!("only elementwise expressions of numbers are printed as code, found {}", kind(&entry.op));
        return Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), message));
    }
    let locals = locals(&dag);
    let mut lines = String::new();
    for id in 0..dag.len() {
        if let Some(local) = &locals[id] {
            let ty = if is_truth(&dag, id) { ["bool", "bool"] } else { ["double", "f64"] };
            lines += &match language {
                Language::C => format!("    const {} {local} = {};\n", ty[0], line(&dag, &locals, id, language)),
                Language::Rust => format!("    let {local}: {} = {};\n", ty[1], line(&dag, &locals, id, language)),
            };
        }
    }
    let result = line(&dag, &locals, dag.root(), language);
    let variables = expr.free_vars();
    Ok(match language {
        Language::C => {
            let params: Vec<String> = variables.iter().map(|name| format!("double {name}")).collect();
            let params = if params.is_empty() { "void".into() } else { params.join(", ") };
            format!(
                "#include <math.h>\n#include <stdbool.h>\n\n{}double {name}({params}) {{\n{lines}    return {result};\n}}\n",
                helpers_c(&dag)
            )
        }
        Language::Rust => {
            let params: Vec<String> = variables.iter().map(|name| format!("{name}: f64")).collect();
            format!("{}pub fn {name}({}) -> f64 {{\n{lines}    {result}\n}}\n", helpers_rust(&dag), params.join(", "))
        }
    })
}

fn has_form(op: &Op) -> bool {
    match op {
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::StopGradient => true,
        Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::Custom(_) => false,
    }
}

fn kind(op: &Op) -> String {
    match op {
        Op::Array(array) => format!("`{}`", array.name()),
        Op::Einsum(_) => "`einsum`".into(),
        Op::Stack => "a list".into(),
        Op::Index => "an index".into(),
        Op::Fold(fold, _) => format!("`{}` over an index", fold.name()),
        Op::Custom(custom) => format!("`{}`, which has a derivative of its own", custom.name),
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::StopGradient => "a number".into(),
    }
}

fn is_truth(dag: &Dag, id: Id) -> bool {
    matches!(dag.op(id), Op::Call(function) if function.gives_truth())
}

/// Functions that C does not have.
fn helpers_c(dag: &Dag) -> String {
    let used = |function: Function| dag.entries.iter().any(|entry| entry.op == Op::Call(function));
    let mut out = String::new();
    if used(Function::Sign) {
        out += "static double sign(double x) {\n    return (x > 0) - (x < 0);\n}\n\n";
    }
    if used(Function::Sigmoid) {
        out += "static double sigmoid(double x) {\n    return 1 / (1 + exp(-x));\n}\n\n";
    }
    out
}

/// Functions that Rust does not have. The error function is C's.
fn helpers_rust(dag: &Dag) -> String {
    let used = |function: Function| dag.entries.iter().any(|entry| entry.op == Op::Call(function));
    let mut out = String::new();
    if used(Function::Sign) {
        out += "fn sign(x: f64) -> f64 {\n    f64::from(u8::from(x > 0.0)) - f64::from(u8::from(x < 0.0))\n}\n\n";
    }
    if used(Function::Sigmoid) {
        out += "fn sigmoid(x: f64) -> f64 {\n    1.0 / (1.0 + (-x).exp())\n}\n\n";
    }
    for (function, name) in [(Function::Erf, "erf"), (Function::Erfc, "erfc")] {
        if used(function) {
            out += &format!(
                "fn {name}(x: f64) -> f64 {{\n    unsafe extern \"C\" {{\n        safe fn {name}(x: f64) -> f64;\n    }}\n    {name}(x)\n}}\n\n"
            );
        }
    }
    out
}

/// Names of entries that are computed once and used more often, and of what nests deeply.
fn locals(dag: &Dag) -> Vec<Option<std::sync::Arc<str>>> {
    let mut uses = dag.uses();
    for entry in &dag.entries {
        // A power that is a product reads its base as often as it is multiplied.
        if entry.op == Op::Call(Function::Pow)
            && let Some(count) = product(dag, &entry.args)
        {
            uses[entry.args[0]] += usize::try_from(count).unwrap_or(0);
        }
    }
    let mut fresh = Fresh::new(dag);
    let mut nesting = vec![0; dag.len()];
    let mut locals = vec![None; dag.len()];
    for id in 0..dag.len() {
        nesting[id] = dag.args(id).iter().map(|arg| nesting[*arg] + 1).max().unwrap_or(0);
        let leaf = dag.args(id).is_empty();
        if !leaf && (uses[id] > 1 || nesting[id] > NESTING) && !dag.roots.contains(&id) {
            locals[id] = Some(fresh.next());
            nesting[id] = 0;
        }
    }
    locals
}

/// The exponent of a power that is written as a product.
fn product(dag: &Dag, args: &[Id]) -> Option<i64> {
    let Op::Number(Number::Fraction(exponent)) = dag.op(args[1]) else { return None };
    exponent.as_integer().filter(|n| (2..=PRODUCTS).contains(n))
}

mod tight {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const COMPARE: u8 = 3;
    pub(super) const SUM: u8 = 4;
    pub(super) const PRODUCT: u8 = 5;
    pub(super) const UNARY: u8 = 6;
    pub(super) const ATOM: u8 = 7;
}

fn line(dag: &Dag, locals: &[Option<std::sync::Arc<str>>], whole: Id, language: Language) -> String {
    written(Piece::Entry(whole, 0), |id, least| match &locals[id] {
        Some(name) if id != whole => vec![text(&**name)],
        Some(_) | None => {
            let (mut pieces, own) = pieces(dag, id, language);
            if own < least {
                pieces.insert(0, text("("));
                pieces.push(text(")"));
            }
            pieces
        }
    })
}

fn pieces(dag: &Dag, id: Id, language: Language) -> (Vec<Piece>, u8) {
    let args = dag.args(id);
    match dag.op(id) {
        Op::Number(x) => number(*x),
        Op::Constant(constant) => match (constant, language) {
            (crate::expr::Constant::Infinity, Language::C) => (vec![text("INFINITY")], tight::ATOM),
            (crate::expr::Constant::Infinity, Language::Rust) => (vec![text("f64::INFINITY")], tight::ATOM),
            (crate::expr::Constant::Pi | crate::expr::Constant::E, Language::C | Language::Rust) => {
                (vec![text(format!("{:?}", constant.to_f64()))], tight::ATOM)
            }
        },
        Op::Variable(name) => (vec![text(&**name)], tight::ATOM),
        Op::StopGradient => (vec![Piece::Entry(args[0], 0)], 0),
        Op::Call(function) => call(dag, *function, args, language),
        Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::Custom(_) => {
            unreachable!("checked by `has_form` before anything is printed")
        }
    }
}

fn number(x: Number) -> (Vec<Piece>, u8) {
    match x {
        Number::Fraction(fraction) if fraction.denominator() != 1 => {
            let text = text(format!("{:?} / {:?}", fraction.numerator() as f64, fraction.denominator() as f64));
            (vec![text], tight::PRODUCT)
        }
        Number::Fraction(_) | Number::Float(_) => {
            let value = x.to_f64();
            (vec![text(format!("{value:?}"))], if value < 0.0 { tight::UNARY } else { tight::ATOM })
        }
    }
}

fn call(dag: &Dag, function: Function, args: &[Id], language: Language) -> (Vec<Piece>, u8) {
    use Function::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Neg, Not, Or, Pow, Select, Sub};
    let infix = |sign: &str, own: u8| {
        let left = if own == tight::COMPARE { own + 1 } else { own };
        (vec![Piece::Entry(args[0], left), text(format!(" {sign} ")), Piece::Entry(args[1], own + 1)], own)
    };
    match (function, language) {
        (Add | Sub, _) => infix(function.row().c, tight::SUM),
        (Mul | Div, _) => infix(function.row().c, tight::PRODUCT),
        (Lt | Le | Gt | Ge | Eq | Ne, _) => infix(function.row().c, tight::COMPARE),
        (And, _) => infix("&&", tight::AND),
        (Or, _) => infix("||", tight::OR),
        (Not, _) => (vec![text("!"), Piece::Entry(args[0], tight::UNARY + 1)], tight::UNARY),
        (Neg, _) => (vec![text("-"), Piece::Entry(args[0], tight::UNARY + 1)], tight::UNARY),
        (Pow, _) if product(dag, args).is_some() => {
            let count = product(dag, args).unwrap_or(2);
            let factors = (0..count).map(|_| Piece::Entry(args[0], tight::PRODUCT + 1));
            (super::joined(factors, " * "), tight::PRODUCT)
        }
        (Select, Language::C) => {
            let pieces = [Piece::Entry(args[0], tight::OR), text(" ? "), Piece::Entry(args[1], 1), text(" : "), Piece::Entry(args[2], 1)];
            (pieces.into(), 0)
        }
        (Select, Language::Rust) => {
            let open = [text("(if "), Piece::Entry(args[0], 0), text(" { "), Piece::Entry(args[1], 0), text(" } else { ")];
            (open.into_iter().chain([Piece::Entry(args[2], 0), text(" })")]).collect(), tight::ATOM)
        }
        // Ours give a NaN where an argument is one; those of the languages do not.
        (Min | Max, _) => {
            let sign = if function == Min { "<" } else { ">" };
            let [a, b] = [args[0], args[1]];
            let nan = || [Piece::Entry(a, tight::SUM), text(" + "), Piece::Entry(b, tight::SUM + 1)];
            let test = [Piece::Entry(a, tight::COMPARE + 1), text(format!(" {sign} ")), Piece::Entry(b, tight::COMPARE + 1)];
            let other = [Piece::Entry(b, tight::COMPARE + 1), text(format!(" {sign}= ")), Piece::Entry(a, tight::COMPARE + 1)];
            let [ask, then, last, end] = match language {
                Language::C => [text("("), text(" ? "), text(" : "), text(")")],
                Language::Rust => [text("(if "), text(" { "), text(" } else if "), text(" })")],
            };
            let mut pieces = vec![ask];
            pieces.extend(test);
            pieces.extend([then, Piece::Entry(a, 1), last]);
            pieces.extend(other);
            pieces.extend(match language {
                Language::C => [text(" ? "), Piece::Entry(b, 1), text(" : ")],
                Language::Rust => [text(" { "), Piece::Entry(b, 0), text(" } else { ")],
            });
            pieces.extend(nan());
            pieces.push(end);
            (pieces, tight::ATOM)
        }
        (named, Language::C) => (of_arguments(format!("{}(", named.row().c), args), tight::ATOM),
        (Function::Sign | Function::Sigmoid | Function::Erf | Function::Erfc, Language::Rust) => {
            (of_arguments(format!("{}(", function.row().rust), args), tight::ATOM)
        }
        (named, Language::Rust) => {
            let mut pieces = vec![text("f64::"), text(named.row().rust)];
            pieces.extend(of_arguments("(".into(), args));
            (pieces, tight::ATOM)
        }
    }
}

fn of_arguments(open: String, args: &[Id]) -> Vec<Piece> {
    let parts = super::joined(args.iter().map(|arg| Piece::Entry(*arg, 0)), ", ");
    [text(open)].into_iter().chain(parts).chain([text(")")]).collect()
}
