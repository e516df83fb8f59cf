//! C and Rust: a function of doubles, in which what is used more than once is computed once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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

/// The language, and the name of the function.
#[derive(Clone, Copy)]
struct Style<'n> {
    language: Language,
    name: &'n str,
}

/// Integer powers up to this one are products.
const PRODUCTS: i64 = 4;
/// Integers below are floats.
const EXACT: u64 = 1 << 53;
/// Where an expression in one line would nest deeper, a local variable takes a part of it.
const NESTING: usize = 20;

pub(super) fn print(expr: &Expr, name: &str, language: Language) -> Result<String, Error> {
    let dag = Dag::of(expr);
    if let Some(entry) = dag.entries.iter().find(|entry| !has_form(&entry.op)) {
        let message = format!("only elementwise expressions of numbers are printed as code, found {}", kind(&entry.op));
        return Err(Error::new(ErrorKind::Unsupported, Pos::unknown(), message));
    }
    let variables = expr.free_vars();
    let identifiers = identifiers(&variables, name);
    let locals = names(&dag, &identifiers);
    let style = Style { language, name };
    let mut lines = String::new();
    for id in 0..dag.len() {
        if let (Some(local), false) = (&locals[id], dag.args(id).is_empty()) {
            let ty = if is_truth(&dag, id) { ["bool", "bool"] } else { ["double", "f64"] };
            lines += &match language {
                Language::C => format!("    const {} {local} = {};\n", ty[0], line(&dag, &locals, id, style)),
                Language::Rust => format!("    let {local}: {} = {};\n", ty[1], line(&dag, &locals, id, style)),
            };
        }
    }
    let result = line(&dag, &locals, dag.root(), style);
    let result = if is_truth(&dag, dag.root()) { truth(&result, language) } else { result };
    let params = variables.iter().map(|variable| &identifiers[variable]);
    Ok(match language {
        Language::C => {
            let params: Vec<String> = params.map(|name| format!("double {name}")).collect();
            let params = if params.is_empty() { "void".into() } else { params.join(", ") };
            format!(
                "#include <math.h>\n#include <stdbool.h>\n\n{}double {name}({params}) {{\n{lines}    return \
                 {result};\n}}\n",
                helpers_c(&dag, name)
            )
        }
        Language::Rust => {
            let params: Vec<String> = params.map(|name| format!("{name}: f64")).collect();
            format!("pub fn {name}({}) -> f64 {{\n{}{lines}    {result}\n}}\n", params.join(", "), helpers_rust(&dag))
        }
    })
}

/// What holds is 1, what does not is 0.
fn truth(condition: &str, language: Language) -> String {
    match language {
        Language::C => condition.to_owned(),
        Language::Rust => format!("f64::from(u8::from({condition}))"),
    }
}

/// Words of both languages, and names of C's library, that a variable may have here.
const TAKEN: &str = "abstract as async atomic_bool auto await become bool box break case char complex const continue \
                     crate default do double dyn else enum extern f32 f64 false final float fn for gen goto i16 i32 \
                     i64 i8 if impl in inline int isize let long loop macro main match mod move mut override priv pub \
                     ref register restrict return self Self short signed sizeof static str struct super switch trait \
                     true try type typedef typeof u16 u32 u64 u8 union unsigned unsized use usize virtual void \
                     volatile where while yield INFINITY NAN sign sigmoid acos acosh asin asinh atan atan2 atanh cbrt \
                     ceil cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb \
                     j0 j1 jn ldexp lgamma log log10 log1p log2 logb modf nan nearbyint pow remainder rint round \
                     scalbn signgam sin sinh sqrt tan tanh tgamma trunc y0 y1 yn unsafe";

/// An identifier for each variable: itself, unless the language or the function has that name. What is not ASCII is
/// written by its number.
fn identifiers(variables: &[String], function: &str) -> HashMap<String, String> {
    let mut used: HashSet<String> =
        TAKEN.split_whitespace().map(str::to_owned).chain([function.to_owned(), "_".to_owned()]).collect();
    let fine = |name: &str| name.is_ascii();
    // Those that keep their names come first, so that nothing takes them.
    let (kept, changed): (Vec<&String>, Vec<&String>) =
        variables.iter().partition(|name| fine(name) && !used.contains(*name));
    let mut all = HashMap::new();
    for name in kept {
        used.insert(name.clone());
        all.insert(name.clone(), name.clone());
    }
    for name in changed {
        let letter = |c: char| if c.is_ascii() { c.to_string() } else { format!("u{:x}", u32::from(c)) };
        let mut own: String = name.chars().map(letter).collect();
        while !used.insert(own.clone()) {
            own.push('_');
        }
        all.insert(name.clone(), own);
    }
    all
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

/// Functions that C does not have, by names that belong to the one that is printed.
fn helpers_c(dag: &Dag, name: &str) -> String {
    let used = |function: Function| dag.entries.iter().any(|entry| entry.op == Op::Call(function));
    let mut out = String::new();
    if used(Function::Sign) {
        out += &format!("static double {name}_sign(double x) {{\n    return isnan(x) ? x : (x > 0) - (x < 0);\n}}\n\n");
    }
    if used(Function::Sigmoid) {
        out += &format!("static double {name}_sigmoid(double x) {{\n    return 1 / (1 + exp(-x));\n}}\n\n");
    }
    out
}

/// Functions that Rust does not have, inside of the one that is printed. The error function is C's.
fn helpers_rust(dag: &Dag) -> String {
    let used = |function: Function| dag.entries.iter().any(|entry| entry.op == Op::Call(function));
    let mut out = String::new();
    if used(Function::Sign) {
        out += "    fn sign(x: f64) -> f64 {\n        if x == 0.0 || x.is_nan() { x } else { x.signum() }\n    }\n";
    }
    if used(Function::Sigmoid) {
        out += "    fn sigmoid(x: f64) -> f64 {\n        1.0 / (1.0 + (-x).exp())\n    }\n";
    }
    for (function, name) in [(Function::Erf, "erf"), (Function::Erfc, "erfc")] {
        if used(function) {
            out += &format!("    unsafe extern \"C\" {{\n        safe fn {name}(x: f64) -> f64;\n    }}\n");
        }
    }
    out
}

/// Names of entries that are computed once and used more often, and of what nests deeply; variables have their
/// identifiers.
fn names(dag: &Dag, identifiers: &HashMap<String, String>) -> Vec<Option<Arc<str>>> {
    let mut uses = dag.uses();
    for entry in &dag.entries {
        // A power that is a product reads its base as often as it is multiplied; the greater and the lesser are found
        // by comparing.
        let repeated = matches!(entry.op, Op::Call(Function::Min | Function::Max))
            || (entry.op == Op::Call(Function::Pow) && product(dag, &entry.args).is_some());
        if repeated {
            entry.args.iter().for_each(|arg| uses[*arg] += 1);
        }
    }
    let mut fresh = Fresh::new(dag);
    fresh.taken.extend(identifiers.values().map(|name| Arc::from(name.as_str())));
    let mut nesting = vec![0; dag.len()];
    let mut locals = vec![None; dag.len()];
    for id in 0..dag.len() {
        nesting[id] = dag.args(id).iter().map(|arg| nesting[*arg] + 1).max().unwrap_or(0);
        let leaf = dag.args(id).is_empty();
        if let Op::Variable(variable) = dag.op(id) {
            locals[id] = Some(Arc::from(identifiers[&**variable].as_str()));
        }
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

fn line(dag: &Dag, locals: &[Option<Arc<str>>], whole: Id, style: Style<'_>) -> String {
    written(Piece::Entry(whole, 0), |id, least| match &locals[id] {
        Some(name) if id != whole || dag.args(id).is_empty() => vec![text(&**name)],
        Some(_) | None => {
            let (mut pieces, own) = pieces(dag, id, style);
            if own < least {
                pieces.insert(0, text("("));
                pieces.push(text(")"));
            }
            pieces
        }
    })
}

fn pieces(dag: &Dag, id: Id, style: Style<'_>) -> (Vec<Piece>, u8) {
    let args = dag.args(id);
    match dag.op(id) {
        Op::Number(x) => number(*x),
        Op::Constant(constant) => match (constant, style.language) {
            (crate::expr::Constant::Infinity, Language::C) => (vec![text("INFINITY")], tight::ATOM),
            (crate::expr::Constant::Infinity, Language::Rust) => (vec![text("f64::INFINITY")], tight::ATOM),
            (crate::expr::Constant::Pi | crate::expr::Constant::E, Language::C | Language::Rust) => {
                (vec![text(format!("{:?}", constant.to_f64()))], tight::ATOM)
            }
        },
        Op::Variable(name) => (vec![text(&**name)], tight::ATOM),
        Op::StopGradient => (vec![Piece::Entry(args[0], 0)], 0),
        Op::Call(function) => call(dag, *function, args, style),
        Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::Custom(_) => {
            unreachable!("checked by `has_form` before anything is printed")
        }
    }
}

fn number(x: Number) -> (Vec<Piece>, u8) {
    match x {
        Number::Fraction(fraction)
            if fraction.denominator() != 1
                && fraction.numerator().unsigned_abs().max(fraction.denominator().unsigned_abs()) < EXACT =>
        {
            let text = text(format!("{:?} / {:?}", fraction.numerator() as f64, fraction.denominator() as f64));
            (vec![text], tight::PRODUCT)
        }
        Number::Fraction(_) | Number::Float(_) => {
            let value = x.to_f64();
            (vec![text(format!("{value:?}"))], if value < 0.0 { tight::UNARY } else { tight::ATOM })
        }
    }
}

fn call(dag: &Dag, function: Function, args: &[Id], style: Style<'_>) -> (Vec<Piece>, u8) {
    use Function::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Neg, Not, Or, Pow, Select, Sub};
    let infix = |sign: &str, own: u8| {
        let left = if own == tight::COMPARE { own + 1 } else { own };
        (vec![Piece::Entry(args[0], left), text(format!(" {sign} ")), Piece::Entry(args[1], own + 1)], own)
    };
    match (function, style.language) {
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
            let pieces = [
                Piece::Entry(args[0], tight::OR),
                text(" ? "),
                Piece::Entry(args[1], 1),
                text(" : "),
                Piece::Entry(args[2], 1),
            ];
            (pieces.into(), 0)
        }
        (Select, Language::Rust) => {
            let open =
                [text("(if "), Piece::Entry(args[0], 0), text(" { "), Piece::Entry(args[1], 0), text(" } else { ")];
            (open.into_iter().chain([Piece::Entry(args[2], 0), text(" })")]).collect(), tight::ATOM)
        }
        // Ours give a NaN where an argument is one; those of the languages do not.
        (Min | Max, _) => {
            let sign = if function == Min { "<" } else { ">" };
            let [a, b] = [args[0], args[1]];
            let nan = || [Piece::Entry(a, tight::SUM), text(" + "), Piece::Entry(b, tight::SUM + 1)];
            let test =
                [Piece::Entry(a, tight::COMPARE + 1), text(format!(" {sign} ")), Piece::Entry(b, tight::COMPARE + 1)];
            let other =
                [Piece::Entry(b, tight::COMPARE + 1), text(format!(" {sign}= ")), Piece::Entry(a, tight::COMPARE + 1)];
            let [ask, then, last, end] = match style.language {
                Language::C => [text("("), text(" ? "), text(" : "), text(")")],
                Language::Rust => [text("(if "), text(" { "), text(" } else if "), text(" })")],
            };
            let mut pieces = vec![ask];
            pieces.extend(test);
            pieces.extend([then, Piece::Entry(a, 1), last]);
            pieces.extend(other);
            pieces.extend(match style.language {
                Language::C => [text(" ? "), Piece::Entry(b, 1), text(" : ")],
                Language::Rust => [text(" { "), Piece::Entry(b, 0), text(" } else { ")],
            });
            pieces.extend(nan());
            pieces.push(end);
            (pieces, tight::ATOM)
        }
        (Function::Sign | Function::Sigmoid, Language::C) => {
            (of_arguments(format!("{}_{}(", style.name, function.row().c), args), tight::ATOM)
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
