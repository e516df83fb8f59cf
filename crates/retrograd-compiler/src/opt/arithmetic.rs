//! The roundings of what the user wrote are decided before anything is derived from it.
//!
//! `jit(f)` and `value_and_grad(f)` give the same bits of the value, and the body of a loop those of the bwd that
//! computes it again, because all of them begin with the Program that [`fix`] gives: what may change roundings has been
//! done, and what is left is marked [`exact`](crate::ir::EXACT). What `diff` adds later is free of marks, so that
//! [`freeze`](super::freeze) works on that alone.
//!
//! In NumPy and in Rust `k - k` is 0, and so is `x*y - y*x`. An `fma` rounds one of two equal products and not the
//! other, and the difference shows. So a sum is not contracted if both of its terms are products, or if its product has
//! another use: who sees the product sees it rounded.

use super::{reorder, unroll};
use crate::ir::{
    Composed, CustomRule, FuncId, Function, Inst, Lowering, Op, OpDef, Part, Program, Reduction, Scalar, Value, Write,
};
use crate::ops::{ADD, MUL, NEG, SUB, SUM};

/// Which roundings may differ from those of the operations that the user wrote, one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// A product that is added and seen nowhere else becomes part of one `fma`, and sums of products of arrays become
    /// contractions.
    #[default]
    Contracted,
    /// None: every operation is rounded as it is written, and sums are in the order in which they are written.
    Exact,
}

/// The Program, simplified and unrolled, with its roundings decided: all that is derived from it computes the same
/// bits.
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
    let marked = match arithmetic {
        // Uses are counted as they are written: another one that `simplify` finds or leaves out changes nothing.
        Arithmetic::Contracted => seen_products(&program),
        Arithmetic::Exact => all(&program),
    };
    mark(&mut program, &marked);
    let mut program = unroll(&program);
    if arithmetic == Arithmetic::Contracted {
        reorder(&mut program);
    }
    let marked = all(&program);
    mark(&mut program, &marked);
    program
}

/// Marks instructions, function by function.
fn mark(program: &mut Program, marked: &[Vec<bool>]) {
    let insts =
        program.functions.iter_mut().zip(marked).flat_map(|(function, marked)| function.insts.iter_mut().zip(marked));
    for (inst, _) in insts.filter(|(_, marked)| **marked) {
        if let Op::Def(_, attrs) = &mut inst.op {
            *attrs = std::mem::take(attrs).exact();
        }
    }
}

/// Everything that a pass could round otherwise.
fn all(program: &Program) -> Vec<Vec<bool>> {
    let marked = |function: &Function| function.insts.iter().map(|inst| rounded(function, inst).is_some()).collect();
    program.functions.iter().map(marked).collect()
}

/// The row, where it is one of floats that a pass could round otherwise.
fn rounded(function: &Function, inst: &Inst) -> Option<&'static OpDef> {
    match &inst.op {
        Op::Def(def, _) => {
            let known = [&ADD, &SUB, &MUL, &SUM].contains(def);
            (known && function.ty(inst.results[0]).dtype.is_float()).then_some(def)
        }
        Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

/// Sums that the user wrote and that show how a product in them is rounded.
fn seen_products(program: &Program) -> Vec<Vec<bool>> {
    let holds = Flow::new(program).reached();
    let of_function = |(function, holds): (&Function, Vec<bool>)| {
        let products = Products::of(function, holds);
        let shows = |inst: &Inst| match rounded(function, inst) {
            // A derivative that the function itself asks for is not what the user wrote.
            _ if inst.pos.part() == Part::Backward => false,
            Some(row) if *row != MUL => products.are_seen(&inst.args),
            Some(_) | None => false,
        };
        function.insts.iter().map(shows).collect()
    };
    program.functions.iter().zip(holds).map(of_function).collect()
}

/// The products of one function.
struct Products<'f> {
    function: &'f Function,
    /// The instruction that defines each value.
    definitions: Vec<Option<usize>>,
    /// How often the user's instructions read each value.
    uses: Vec<usize>,
    /// Values whose elements are products, made here or elsewhere.
    holds: Vec<bool>,
}

impl<'f> Products<'f> {
    fn of(function: &'f Function, holds: Vec<bool>) -> Products<'f> {
        let count = function.types.len();
        let mut products = Products { function, definitions: vec![None; count], uses: vec![0; count], holds };
        function.results.iter().for_each(|v| products.uses[v.0 as usize] += 1);
        for (k, inst) in function.insts.iter().enumerate() {
            if inst.pos.part() == Part::Forward {
                inst.args.iter().for_each(|v| products.uses[v.0 as usize] += 1);
            }
            inst.results.iter().for_each(|v| products.definitions[v.0 as usize] = Some(k));
        }
        products
    }

    /// Whether somebody could see how products among these terms are rounded: all terms are, or one is used elsewhere,
    /// or comes from there.
    fn are_seen(&self, terms: &[Value]) -> bool {
        let holds = |v: &Value| self.holds[v.0 as usize];
        let alone = |v: &Value| self.uses_of_product(*v) == Some(1);
        terms.len() > 1 && terms.iter().all(holds) || terms.iter().any(|v| holds(v) && !alone(v))
    }

    /// How often a term is used, where it is a product, perhaps with another sign.
    fn uses_of_product(&self, term: Value) -> Option<usize> {
        let inst = &self.function.insts[self.definitions[term.0 as usize]?];
        let uses = self.uses[term.0 as usize];
        match &inst.op {
            Op::Def(def, _) if **def == MUL => Some(uses),
            Op::Def(def, _) if **def == NEG => self.uses_of_product(inst.args[0]).map(|inner| uses.max(inner)),
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        }
    }
}

/// Where products go: from value to value without being rounded again, into bodies and out of them.
struct Flow<'p> {
    program: &'p Program,
    /// The place of the first value of each function among those of all.
    first: Vec<usize>,
    /// Where each value goes.
    edges: Vec<Vec<usize>>,
    products: Vec<usize>,
}

impl<'p> Flow<'p> {
    fn new(program: &'p Program) -> Flow<'p> {
        let mut count = 0;
        let mut first = vec![];
        for function in &program.functions {
            first.push(count);
            count += function.types.len();
        }
        let mut flow = Flow { program, first, edges: vec![vec![]; count], products: vec![] };
        for (k, function) in program.functions.iter().enumerate() {
            function.insts.iter().for_each(|inst| flow.inst(FuncId(k as u32), inst));
        }
        flow
    }

    /// Which values of each function hold products.
    fn reached(mut self) -> Vec<Vec<bool>> {
        let mut holds = vec![false; self.edges.len()];
        while let Some(value) = self.products.pop() {
            if !std::mem::replace(&mut holds[value], true) {
                self.products.extend(&self.edges[value]);
            }
        }
        let of = |(first, function): (&usize, &Function)| holds[*first..first + function.types.len()].to_vec();
        self.first.iter().zip(&self.program.functions).map(of).collect()
    }

    fn goes(&mut self, from: (FuncId, &[Value]), to: (FuncId, &[Value])) {
        for (v, w) in from.1.iter().zip(to.1) {
            let [from, to] = [(from.0, v), (to.0, w)].map(|(id, v)| self.first[usize::from(id)] + v.0 as usize);
            self.edges[from].push(to);
        }
    }

    fn inst(&mut self, id: FuncId, inst: &Inst) {
        let (args, results) = ((id, &inst.args[..]), (id, &inst.results[..]));
        let bodies = inst.bodies();
        let program = self.program;
        let params = |id: FuncId| (id, &program.function(id).params[..]);
        let ends = |id: FuncId| (id, &program.function(id).results[..]);
        match &inst.op {
            Op::Def(def, _) if **def == MUL => {
                self.products.push(self.first[usize::from(id)] + inst.results[0].0 as usize)
            }
            Op::Def(def, _) if passes_elements(def.lowering) => {
                inst.args.iter().for_each(|v| self.goes((id, &[*v]), results));
            }
            Op::Def(..) => {}
            Op::If(_) => {
                bodies.iter().for_each(|body| self.goes((id, &inst.args[1..]), params(*body)));
                bodies.iter().for_each(|body| self.goes(ends(*body), results));
            }
            Op::For(op) => {
                self.goes(args, params(op.body));
                self.goes((op.body, &ends(op.body).1[..op.carries]), (op.body, &params(op.body).1[1..]));
                self.goes((id, &inst.args[1..=op.carries]), results);
                self.goes(ends(op.body), results);
            }
            Op::While(op) => {
                for body in [op.cond, op.body] {
                    self.goes(args, params(body));
                    self.goes(ends(op.body), params(body));
                }
                self.goes((id, &inst.args[..op.carries]), results);
                self.goes(ends(op.body), results);
            }
            Op::Unwind(op) => {
                for body in [op.body, op.bwd] {
                    self.goes(args, params(body));
                    self.goes((op.body, &ends(op.body).1[..op.carries]), (body, &params(body).1[1..]));
                }
                self.goes(ends(op.bwd), results);
            }
            // The functions of a custom rule take the arguments first, but for the backward one.
            Op::Call(op) => {
                let backward =
                    if let Some(CustomRule::Vjp { backward, .. }) = &op.rule { Some(*backward) } else { None };
                bodies.iter().filter(|body| Some(**body) != backward).for_each(|body| self.goes(args, params(*body)));
                self.goes(ends(op.body), results);
            }
        }
    }
}

/// Whether elements of the result are elements of the arguments, but for their signs: a product is then as it was
/// rounded.
fn passes_elements(lowering: Lowering) -> bool {
    match lowering {
        Lowering::Map(scalar) => {
            matches!(
                scalar,
                Scalar::Neg
                    | Scalar::Abs
                    | Scalar::Min
                    | Scalar::Max
                    | Scalar::Clamp
                    | Scalar::CopySign
                    | Scalar::Select
            )
        }
        Lowering::View(_) | Lowering::Pick(_) => true,
        Lowering::Write(write) | Lowering::Scatter(_, write) => matches!(write, Write::Set | Write::Max | Write::Min),
        Lowering::Reduce(reduction) => matches!(reduction, Reduction::Max | Reduction::Min),
        Lowering::Composed(composed) => matches!(composed, Composed::Pad | Composed::Concat | Composed::First),
        Lowering::Convert | Lowering::Iota | Lowering::Constant | Lowering::Dot | Lowering::Scan(_) => false,
        Lowering::Routine(_) | Lowering::Factored(..) | Lowering::Probe | Lowering::Check | Lowering::Missing => false,
    }
}
