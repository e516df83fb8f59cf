//! The roundings of what the user wrote are decided before anything is derived from it.
//!
//! `jit(f)` and `value_and_grad(f)` give the same bits of the value, and the body of a loop those of the bwd that computes it again,
//! because all of them begin with the Program that [`fix`] gives: what may change roundings has been done, and what is left is marked
//! [`exact`](crate::ir::EXACT). What `diff` adds later is free of marks, so that [`freeze`](super::freeze) works on that alone.
//!
//! In NumPy and in Rust `k - k` is 0, and so is `x*y - y*x`. An `fma` rounds one of two equal products and not the other, and the
//! difference shows. So a sum is not contracted if both of its terms are products, or if its product has another use: who sees the
//! product sees it rounded.

use super::functions::edit;
use super::{reorder, unroll};
use crate::ir::{Composed, Function, Inst, Lowering, Op, Part, Program, Reduction, Row, Scalar, Value, Write};
use crate::ops::{ADD, MUL, NEG, SUB, SUM};

/// Which roundings may differ from those of the operations that the user wrote, one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// A product that is added and seen nowhere else becomes part of one `fma`, and sums of products of arrays become contractions.
    #[default]
    Contracted,
    /// None: every operation is rounded as it is written, and sums are in the order in which they are written.
    Exact,
}

/// The Program, simplified and unrolled, with its roundings decided: all that is derived from it computes the same bits.
///
/// ```
/// use retrograd_compiler::{ops, opt::{self, Arithmetic}};
/// let square = |rest: &str| format!("fn main(%0: f64, %1: f64) -> f64 {{\n  %2: f64 = mul %0, %0\n{rest}}}\n");
/// let alone = ops::parse(&square("  %3: f64 = add %1, %2\n  return %3\n"), "square.rg")?;
/// assert!(opt::fix(&alone, Arithmetic::Contracted).to_string().contains("%2: f64 = fma %0, %0, %1"));
/// assert!(opt::fix(&alone, Arithmetic::Exact).to_string().contains("%3: f64 = add %1, %2 {exact}"));
/// // The product is seen twice.
/// let twice = ops::parse(&square("  %3: f64 = add %1, %2\n  %4: f64 = sub %3, %2\n  return %4\n"), "square.rg")?;
/// assert!(opt::fix(&twice, Arithmetic::Contracted).to_string().contains("%4: f64 = sub %3, %2 {exact}"));
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn fix(program: &Program, arithmetic: Arithmetic) -> Program {
    let mut program = program.clone();
    match arithmetic {
        // Uses are counted as they are written: another one that `simplify` finds or leaves out changes nothing.
        Arithmetic::Contracted => mark(&mut program, seen_products),
        Arithmetic::Exact => mark(&mut program, all),
    }
    let mut program = unroll(&program);
    if arithmetic == Arithmetic::Contracted {
        reorder(&mut program);
    }
    mark(&mut program, all);
    program
}

/// Marks the chosen instructions of every function.
fn mark(program: &mut Program, choose: impl Fn(&Function) -> Vec<bool>) {
    edit(program, |_, function| {
        let chosen = choose(function);
        let is_new = |inst: &Inst, chosen: bool| chosen && matches!(&inst.op, Op::Row(_, attrs) if !attrs.is_exact());
        if !function.insts.iter().zip(&chosen).any(|(inst, chosen)| is_new(inst, *chosen)) {
            return None;
        }
        let mut function = function.clone();
        for (inst, _) in function.insts.iter_mut().zip(chosen).filter(|(_, chosen)| *chosen) {
            if let Op::Row(_, attrs) = &mut inst.op {
                *attrs = std::mem::take(attrs).exact();
            }
        }
        Some(function)
    });
}

/// Everything that a pass could round otherwise.
fn all(function: &Function) -> Vec<bool> {
    function.insts.iter().map(|inst| rounded(function, inst).is_some()).collect()
}

/// The row, where it is one of floats that a pass could round otherwise.
fn rounded(function: &Function, inst: &Inst) -> Option<&'static Row> {
    match &inst.op {
        Op::Row(row, _) => {
            let known = [&ADD, &SUB, &MUL, &SUM].contains(row);
            (known && function.ty(inst.results[0]).dtype.is_float()).then_some(row)
        }
        Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

/// Sums that the user wrote and that show how a product in them is rounded.
fn seen_products(function: &Function) -> Vec<bool> {
    let products = Products::of(function);
    let shows = |inst: &Inst| match rounded(function, inst) {
        // A derivative that the function itself asks for is not what the user wrote.
        _ if inst.pos.part() == Part::Backward => false,
        Some(row) if *row == ADD || *row == SUB => products.shows_in_sum(&inst.args),
        Some(row) if *row == SUM => products.has_other_use(inst.args[0]),
        Some(_) | None => false,
    };
    function.insts.iter().map(shows).collect()
}

/// The products of one function.
struct Products<'f> {
    function: &'f Function,
    /// The instruction that defines each value.
    definitions: Vec<Option<usize>>,
    /// How often the user's instructions read each value.
    uses: Vec<usize>,
    /// Values whose elements are products, or were.
    holds: Vec<bool>,
}

impl<'f> Products<'f> {
    fn of(function: &'f Function) -> Products<'f> {
        let count = function.types.len();
        let mut products = Products { function, definitions: vec![None; count], uses: vec![0; count], holds: vec![false; count] };
        function.results.iter().for_each(|v| products.uses[v.0 as usize] += 1);
        for (k, inst) in function.insts.iter().enumerate() {
            if inst.pos.part() == Part::Forward {
                inst.args.iter().for_each(|v| products.uses[v.0 as usize] += 1);
            }
            inst.results.iter().for_each(|v| products.definitions[v.0 as usize] = Some(k));
            if let Op::Row(row, _) = &inst.op {
                let moved = || passes_elements(row.lowering) && inst.args.iter().any(|v| products.holds[v.0 as usize]);
                products.holds[inst.results[0].0 as usize] = **row == MUL || moved();
            }
        }
        products
    }

    fn shows_in_sum(&self, terms: &[Value]) -> bool {
        terms.iter().all(|v| self.holds[v.0 as usize]) || terms.iter().any(|v| self.has_other_use(*v))
    }

    /// Whether a term is a product, perhaps with another sign, that is used elsewhere too.
    fn has_other_use(&self, term: Value) -> bool {
        let Some(inst) = self.definitions[term.0 as usize].map(|k| &self.function.insts[k]) else { return false };
        let used = self.uses[term.0 as usize] > 1;
        match &inst.op {
            Op::Row(row, _) if **row == MUL => used,
            Op::Row(row, _) if **row == NEG => self.is_product(inst.args[0]) && (used || self.has_other_use(inst.args[0])),
            Op::Row(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => false,
        }
    }

    fn is_product(&self, value: Value) -> bool {
        let Some(inst) = self.definitions[value.0 as usize].map(|k| &self.function.insts[k]) else { return false };
        match &inst.op {
            Op::Row(row, _) => **row == MUL || **row == NEG && self.is_product(inst.args[0]),
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => false,
        }
    }
}

/// Whether elements of the result are elements of the arguments, but for their signs: a product is then as it was rounded.
fn passes_elements(lowering: Lowering) -> bool {
    match lowering {
        Lowering::Map(scalar) => matches!(
            scalar,
            Scalar::Neg | Scalar::Abs | Scalar::Min | Scalar::Max | Scalar::Clamp | Scalar::CopySign | Scalar::Select
        ),
        Lowering::View(_) | Lowering::Pick(_) => true,
        Lowering::Write(write) | Lowering::Scatter(_, write) => matches!(write, Write::Set | Write::Max | Write::Min),
        Lowering::Reduce(reduction) => matches!(reduction, Reduction::Max | Reduction::Min),
        Lowering::Composed(composed) => matches!(composed, Composed::Pad | Composed::Concat),
        Lowering::Convert | Lowering::Iota | Lowering::Constant | Lowering::Dot | Lowering::Line(_) => false,
        Lowering::Routine(_) | Lowering::Factored(_) | Lowering::Probe | Lowering::Check | Lowering::Missing => false,
    }
}
