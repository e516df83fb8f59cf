//! S-expressions.

use super::infix::Concatenate;
use super::{Named, Piece, joined, text, written};
use crate::dag::{Dag, Id};
use crate::expr::{Expr, Op};
use crate::function::Function;

pub(super) fn print(expr: &Expr) -> String {
    let dag = Dag::of(expr);
    let named = Named::of(&dag);
    let name = |id: &Id| named.names[*id].clone().expect("it is in the order because it is named");
    let bindings: Vec<String> =
        named.order.iter().map(|id| format!("({} {})", name(id), entry(&dag, &named, *id))).collect();
    let body = entry(&dag, &named, dag.root());
    if bindings.is_empty() { body } else { format!("(let ({})\n  {body})", bindings.join("\n      ")) }
}

fn entry(dag: &Dag, named: &Named, whole: Id) -> String {
    written(Piece::Entry(whole, 0), |id, _| match &named.names[id] {
        Some(name) if id != whole => vec![text(&**name)],
        Some(_) | None => pieces(dag, id),
    })
}

fn pieces(dag: &Dag, id: Id) -> Vec<Piece> {
    let args = dag.args(id);
    let list = |head: String| {
        let parts = joined([text(head)].into_iter().chain(args.iter().map(|arg| Piece::Entry(*arg, 0))), " ");
        [vec![text("(")], parts, vec![text(")")]].concat_pieces()
    };
    match dag.op(id) {
        Op::Number(x) => vec![text(x.to_string())],
        Op::Constant(constant) => vec![text(constant.name())],
        Op::Variable(name) => vec![text(&**name)],
        Op::Call(Function::Neg) => list("-".into()),
        Op::Call(function) => list(function.row().name.into()),
        Op::Array(array) => list(array.name().into()),
        Op::Einsum(subscripts) => list(format!("einsum \"{subscripts}\"")),
        Op::Stack => list("list".into()),
        Op::Index => list("index".into()),
        Op::Fold(fold, index) => {
            let parts = joined(
                [Piece::Entry(args[0], 0), text(&**index), Piece::Entry(args[1], 0), Piece::Entry(args[2], 0)],
                " ",
            );
            [vec![text(format!("({} ", fold.name()))], parts, vec![text(")")]].concat_pieces()
        }
        Op::StopGradient => list("stop_gradient".into()),
        Op::Custom(custom) => list(custom.name.to_string()),
    }
}
