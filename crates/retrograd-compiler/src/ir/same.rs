//! Programs that are the same to the bit, positions included.

use super::attr::{Attr, Attrs};
use super::program::{Function, Inst, Op, Program};

impl Program {
    /// Whether both are the same text with the same literals, to the bit, from the same lines: what is compiled of one
    /// serves for the other, its errors too.
    pub fn same_as(&self, other: &Program) -> bool {
        let Program { functions, entry } = self;
        *entry == other.entry && same_lists(functions, &other.functions, Function::same_as)
    }
}

impl Function {
    fn same_as(&self, other: &Function) -> bool {
        let Function { name, params, insts, results, types } = self;
        (name, params, results, types) == (&other.name, &other.params, &other.results, &other.types)
            && same_lists(insts, &other.insts, Inst::same_as)
    }
}

impl Inst {
    fn same_as(&self, other: &Inst) -> bool {
        let Inst { op, args, results, pos } = self;
        (args, results, pos) == (&other.args, &other.results, &other.pos) && op.same_as(&other.op)
    }
}

impl Op {
    fn same_as(&self, other: &Op) -> bool {
        match (self, other) {
            // A row of the user may have the name of another.
            (Op::Def(def, attrs), Op::Def(other_row, other)) => std::ptr::eq(*def, *other_row) && attrs.same_as(other),
            (Op::If(op), Op::If(other)) => op == other,
            (Op::For(op), Op::For(other)) => op == other,
            (Op::While(op), Op::While(other)) => op == other,
            (Op::Unwind(op), Op::Unwind(other)) => op == other,
            (Op::Call(op), Op::Call(other)) => op == other,
            (Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_), _) => false,
        }
    }
}

impl Attrs {
    fn same_as(&self, other: &Attrs) -> bool {
        let both: (Vec<_>, Vec<_>) = (self.iter().collect(), other.iter().collect());
        same_lists(&both.0, &both.1, |(name, attr), (other_name, other)| name == other_name && attr.same_as(other))
    }
}

impl Attr {
    fn same_as(&self, other: &Attr) -> bool {
        match (self, other) {
            (Attr::Array(array), Attr::Array(other)) => array.same_bits(other),
            (Attr::Ints(_) | Attr::DType(_) | Attr::Type(_) | Attr::Array(_) | Attr::Text(_) | Attr::Flag, _) => {
                self == other
            }
        }
    }
}

fn same_lists<T>(list: &[T], other: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    list.len() == other.len() && list.iter().zip(other).all(|(a, b)| same(a, b))
}
