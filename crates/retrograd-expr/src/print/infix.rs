//! Infix notation with the fewest parentheses: what is printed is read as the same expression.

use super::{Named, Piece, joined, text, written};
use crate::dag::{Dag, Id};
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::Number;
use crate::syntax::power;

pub(super) fn print(expr: &Expr) -> String {
    let dag = Dag::of(expr);
    let named = Named::of(&dag);
    let mut out = String::new();
    for id in &named.order {
        let name = named.names[*id].as_ref().expect("it is in the order because it is named");
        out += &format!("let {name} = {};\n", entry(&dag, &named, *id));
    }
    out + &entry(&dag, &named, dag.root())
}

/// One entry in full; others by name where they have one.
fn entry(dag: &Dag, named: &Named, whole: Id) -> String {
    written(Piece::Entry(whole, 0), |id, least| match &named.names[id] {
        Some(name) if id != whole => vec![text(&**name)],
        Some(_) | None => {
            let mut pieces = pieces(dag, id);
            if strength(dag.op(id)) < least {
                pieces.insert(0, text("("));
                pieces.push(text(")"));
            }
            pieces
        }
    })
}

/// How strongly the root of an entry binds.
pub(super) fn strength(op: &Op) -> u8 {
    use Function::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Neg, Not, Or, Pow, Sub};
    match op {
        Op::Number(Number::Fraction(fraction)) if fraction.denominator() != 1 => power::PRODUCT,
        Op::Number(x) if x.to_f64() < 0.0 => power::NEGATE,
        Op::Call(Or) => power::OR,
        Op::Call(And) => power::AND,
        Op::Call(Not) => power::NOT,
        Op::Call(Lt | Le | Gt | Ge | Eq | Ne) => power::COMPARE,
        Op::Call(Add | Sub) => power::SUM,
        Op::Call(Mul | Div) => power::PRODUCT,
        Op::Call(Neg) => power::NEGATE,
        Op::Call(Pow) => power::POWER,
        Op::Number(_) | Op::Constant(_) | Op::Variable(_) | Op::Call(_) | Op::Array(_) | Op::Einsum(_) => power::ATOM,
        Op::Stack | Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => power::ATOM,
    }
}

/// Whether an argument is the left side of an operator and needs no parentheses there.
pub(super) fn is_left_side(dag: &Dag, id: Id, arg: Id) -> bool {
    let Op::Call(function) = dag.op(id) else { return false };
    let (own, of_argument) = (strength(dag.op(id)), strength(dag.op(arg)));
    !function.is_named() && !matches!(function, Function::Neg | Function::Not | Function::Pow) && of_argument >= own
}

fn pieces(dag: &Dag, id: Id) -> Vec<Piece> {
    let args = dag.args(id);
    let own = strength(dag.op(id));
    let list = |open: String, close: &str| {
        let parts = joined(args.iter().map(|arg| Piece::Entry(*arg, 0)), ", ");
        [vec![text(open)], parts, vec![text(close)]].concat_pieces()
    };
    match dag.op(id) {
        Op::Number(x) => vec![text(x.to_string())],
        Op::Constant(constant) => vec![text(constant.name())],
        Op::Variable(name) => vec![text(&**name)],
        Op::Call(Function::Neg) => vec![text("-"), Piece::Entry(args[0], power::NEGATE)],
        Op::Call(Function::Not) => vec![text("not "), Piece::Entry(args[0], power::NOT)],
        // To the right first: the base is an atom, the exponent may have a sign.
        Op::Call(Function::Pow) => {
            vec![Piece::Entry(args[0], own + 1), text("^"), Piece::Entry(args[1], power::NEGATE)]
        }
        Op::Call(function) if function.is_named() => list(format!("{}(", function.row().name), ")"),
        Op::Call(operator) => {
            let name = operator.row().name;
            let sign = if own == power::PRODUCT { name.to_owned() } else { format!(" {name} ") };
            // Comparisons do not chain.
            let left = if own == power::COMPARE { own + 1 } else { own };
            vec![Piece::Entry(args[0], left), text(sign), Piece::Entry(args[1], own + 1)]
        }
        Op::Array(array) => list(format!("{}(", array.name()), ")"),
        Op::Einsum(subscripts) => list(format!("einsum(\"{subscripts}\", "), ")"),
        Op::Stack => list("[".into(), "]"),
        Op::Index => {
            let indices = joined(args[1..].iter().map(|arg| Piece::Entry(*arg, 0)), ", ");
            [vec![Piece::Entry(args[0], power::ATOM), text("[")], indices, vec![text("]")]].concat_pieces()
        }
        Op::Fold(fold, index) => {
            let rest = joined([text(&**index), Piece::Entry(args[1], 0), Piece::Entry(args[2], 0)], ", ");
            [vec![text(format!("{}(", fold.name())), Piece::Entry(args[0], 0), text(", ")], rest, vec![text(")")]]
                .concat_pieces()
        }
        Op::StopGradient => list("stop_gradient(".into(), ")"),
        Op::Custom(custom) => list(format!("{}(", custom.name), ")"),
    }
}

/// Pieces are not cloned, so that slices of them cannot be joined by `concat`.
pub(super) trait Concatenate {
    fn concat_pieces(self) -> Vec<Piece>;
}

impl<const N: usize> Concatenate for [Vec<Piece>; N] {
    fn concat_pieces(self) -> Vec<Piece> {
        self.into_iter().flatten().collect()
    }
}
