//! A sum of products of repeated arrays is a contraction.
//!
//! `sum(a[:, None, :] * b[None, :, :], axis=2)`, as array programs write it, makes every product before it adds them
//! up: an array larger than both of its factors. `dot` makes none. Its sums are rounded otherwise, so this belongs to
//! [`freeze`](super::freeze), for every plan alike. Like contraction to `fma` it looks at the expression alone, so that
//! body and bwd of a loop stay equal. So is the sum of the squares of each row; and a sum of negatives is the negative
//! of the sum, so that an array is not made for its sign.

use super::edit::Editor;
use super::functions::edit;
use crate::ir::{Attrs, Inst, Op, Program, Type, Value};
use crate::ops::{BROADCAST, DOT, DotAxes, MUL, NEG, SUM, TRANSPOSE};

/// Elements of a row from which the sum of its squares is a loop of its own; a shorter one is a part of the loop over
/// rows.
const ROW: usize = 8;

/// Sums of products as contractions. Applied again, it changes nothing.
pub(super) fn products(program: &mut Program) -> bool {
    edit(program, |_, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::Def(def, attrs) if **def == SUM && !attrs.is_exact() => sum(&mut editor, inst, attrs),
                Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        editor.finish()
    })
}

/// One factor: an array, and which axis of the product each of its axes is.
struct Factor {
    array: Value,
    axes: Vec<usize>,
}

impl Factor {
    fn new(editor: &Editor<'_>, value: Value) -> Factor {
        match editor.definition(value) {
            Some((row, attrs, args)) if *row == BROADCAST => Factor { array: args[0], axes: attrs.sizes("axes") },
            Some(_) | None => Factor { array: value, axes: (0..editor.ty(value).rank()).collect() },
        }
    }

    /// The places of axes of the product among those of the array.
    fn places(&self, axes: &[usize]) -> Vec<usize> {
        axes.iter().map(|axis| self.axes.iter().position(|own| own == axis).expect("an axis of both factors")).collect()
    }

    /// Axes of the product that this factor has and the other has not, in the order of the array.
    fn alone(&self, other: &Factor) -> Vec<usize> {
        self.axes.iter().copied().filter(|axis| !other.axes.contains(axis)).collect()
    }
}

fn sum(editor: &mut Editor<'_>, inst: &Inst, attrs: &Attrs) {
    let summed = editor.values(&inst.args)[0];
    let ty = editor.old_ty(inst.results[0]).clone();
    // sum(−x) = −sum(x)
    let negated = match editor.definition(summed) {
        Some((row, _, args)) if *row == NEG => Some(args[0]),
        Some(_) | None => None,
    };
    let result = contraction(editor, negated.unwrap_or(summed), attrs, inst);
    let result = match (result, negated) {
        (None, None) => return editor.copy(inst),
        (Some(dot), None) => dot,
        (dot, Some(x)) => {
            let sum = dot.unwrap_or_else(|| editor.op(&SUM, attrs.clone(), vec![x], ty.clone(), &inst.pos));
            editor.op(&NEG, Attrs::none(), vec![sum], ty, &inst.pos)
        }
    };
    editor.bind(inst.results[0], result);
}

/// The sum of a product as a contraction, where it is one.
fn contraction(editor: &mut Editor<'_>, product: Value, attrs: &Attrs, inst: &Inst) -> Option<Value> {
    let factors = match editor.definition(product) {
        Some((row, _, args)) if *row == MUL => [args[0], args[1]].map(|v| Factor::new(editor, v)),
        Some(_) | None => return None,
    };
    let summed = attrs.sizes("axes");
    let kept: Vec<usize> = (0..editor.ty(product).rank()).filter(|axis| !summed.contains(axis)).collect();
    if !is_contraction(editor, product, &factors, &summed, &kept) && !is_square(editor, &factors, &summed, &kept) {
        return None;
    }
    let [a, b] = factors;
    let batch: Vec<usize> =
        kept.iter().copied().filter(|axis| a.axes.contains(axis) && b.axes.contains(axis)).collect();
    let axes_of = |a: &Factor, b: &Factor| [batch.clone(), a.alone(b), b.alone(a)].concat();
    // Elements that are neighbours in the sum are neighbours in memory, where one of the two orders has them so.
    let (lhs, rhs) =
        if axes_of(&a, &b).last() != kept.last() && axes_of(&b, &a).last() == kept.last() { (b, a) } else { (a, b) };
    let attrs = DotAxes::attrs(&lhs.places(&summed), &rhs.places(&summed), &lhs.places(&batch), &rhs.places(&batch));
    let (extents, dtype) = (editor.ty(product).shape.clone(), editor.ty(product).dtype);
    let axes = axes_of(&lhs, &rhs);
    let shape = |axes: &[usize]| Type::new(dtype, axes.iter().map(|axis| extents[*axis]).collect::<Vec<_>>());
    let dot = editor.op(&DOT, attrs, vec![lhs.array, rhs.array], shape(&axes), &inst.pos);
    Some(if axes == kept {
        dot
    } else {
        let places = kept
            .iter()
            .map(|axis| axes.iter().position(|own| own == axis).expect("every kept axis is one of the contraction"));
        editor.op(&TRANSPOSE, Attrs::none().ints("axes", places), vec![dot], shape(&kept), &inst.pos)
    })
}

/// Whether all that is summed belongs to both factors and all that is kept to one of them, and they are smaller than
/// their product.
fn is_contraction(editor: &Editor<'_>, product: Value, [a, b]: &[Factor; 2], summed: &[usize], kept: &[usize]) -> bool {
    let ty = editor.ty(product);
    let elements = |factor: &Factor| editor.ty(factor.array).elements();
    ty.dtype.is_float()
        && !summed.is_empty()
        && summed.iter().all(|axis| a.axes.contains(axis) && b.axes.contains(axis))
        && kept.iter().all(|axis| a.axes.contains(axis) || b.axes.contains(axis))
        && elements(a).saturating_add(elements(b)) < ty.elements()
}

/// Whether these are the squares of the rows of one array, of more than a few elements each: a contraction of the array
/// with itself, whose sums have the order of `sum`. Where all is summed to one number, that fuses with what makes the
/// array.
fn is_square(editor: &Editor<'_>, [a, b]: &[Factor; 2], summed: &[usize], kept: &[usize]) -> bool {
    let ty = editor.ty(a.array);
    let row: usize = summed.iter().map(|axis| ty.shape.get(*axis).copied().unwrap_or(0)).product();
    let trails = summed.iter().copied().eq(kept.len()..ty.rank());
    let whole = |factor: &Factor| factor.axes.iter().copied().eq(0..summed.len() + kept.len());
    ty.dtype.is_float() && a.array == b.array && whole(a) && whole(b) && trails && !kept.is_empty() && row >= ROW
}
