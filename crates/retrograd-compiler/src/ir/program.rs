//! Functions, instructions and the constructs of control flow.

use super::attr::Attrs;
use super::error::Pos;
use super::op_def::{Lowering, OpDef};
use super::types::Type;
use serde::{Deserialize, Serialize};

/// A value of one function: `%7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Value(pub u32);

/// A function of one Program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FuncId(pub u32);

/// Functions over typed arrays; the entry is what runs, the others are bodies of control flow.
#[derive(Clone, Debug)]
pub struct Program {
    /// All functions; bodies before or after their users.
    pub functions: Vec<Function>,
    /// The function that runs.
    pub entry: FuncId,
}

/// A function in SSA form: every value is a parameter or the result of one earlier instruction.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name in the text form.
    pub name: String,
    /// Parameters.
    pub params: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// Results.
    pub results: Vec<Value>,
    /// Types of all values, by number.
    pub types: Vec<Type>,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub args: Vec<Value>,
    /// What it defines.
    pub results: Vec<Value>,
    /// The user's line.
    pub pos: Pos,
}

/// What an instruction does: a row of the op table, or control flow over bodies.
#[derive(Clone, Debug)]
pub enum Op {
    /// A row of the table with its attributes.
    Def(&'static OpDef, Attrs),
    /// A branch.
    If(IfOp),
    /// A counted loop.
    For(ForOp),
    /// A loop that runs while a condition holds.
    While(WhileOp),
    /// The adjoint of a loop.
    Unwind(UnwindOp),
    /// A function with arguments, perhaps with a derivative of its own.
    Call(CallOp),
}

/// `if p, args {then, else}`: both bodies take `args` and return results of the same types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IfOp {
    /// Runs when the predicate holds.
    pub then_body: FuncId,
    /// Runs otherwise.
    pub else_body: FuncId,
}

/// `for n, c0, inv, xs {body} -> cN, ys` with `body(i, c, inv, x) -> (c', y)`.
///
/// Arguments are grouped `[n] ++ c0 ++ inv ++ xs`, results `cN ++ ys`. `n` is an i64 scalar. `xs` are read by index
/// along their leading axis, `ys` are emitted likewise; rows of `ys` beyond `n` are zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForOp {
    /// One step.
    pub body: FuncId,
    /// How many carries.
    pub carries: usize,
    /// How many invariants.
    pub invariants: usize,
    /// Extent of every stream (0 where there is none); `n` must not exceed it.
    pub bound: usize,
}

/// `while c0, inv {cond, body} -> cN, trips`: as long as `cond(c, inv)` holds, `c = body(c, inv)`; `trips` (i64) says
/// how often it did.
///
/// Arguments are grouped `c0 ++ inv`, results `cN ++ [trips]`. The states are those of `for trips, c0, inv` over the
/// same step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhileOp {
    /// Whether there is one more step: a bool scalar.
    pub cond: FuncId,
    /// One step.
    pub body: FuncId,
    /// How many carries.
    pub carries: usize,
}

/// `call args {body}`: what the body computes of the arguments.
///
/// Without a rule it is no more than its body, and `opt` puts that in its place. With one, `diff` takes the derivative
/// from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOp {
    /// What it computes.
    pub body: FuncId,
    /// Its derivative, where it is not that of the body.
    pub rule: Option<CustomRule>,
}

/// A derivative that the user states. Only floats have tangents and cotangents: the others are left out of their lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomRule {
    /// `forward(args) -> (results, residuals)` and `backward(residuals, cts) -> cts of args`. Need not be linear in the
    /// cotangents.
    Vjp {
        /// What the backward part reads is among its results.
        forward: FuncId,
        /// From cotangents of the results to those of the arguments.
        backward: FuncId,
    },
    /// `tangent(args, dargs) -> dresults`, linear in the tangents; reverse mode is its transpose.
    Jvp {
        /// From tangents of the arguments to those of the results.
        tangent: FuncId,
    },
}

/// `unwind n, c0, inv, xs, a, g, r0 {body, bwd} -> a', r', h`: for i = n−1 … 0, `(a, r, h_i) = bwd(i, c_i, inv, x_i, a,
/// g_i, r)`, where `c_i` is the state that `for n, c0, inv, xs {body}` has before step i.
///
/// `bwd` is linear in (a, g, r), unless a custom rule made it otherwise. Where the `c_i` come from is the planner's
/// decision alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnwindOp {
    /// One step of the loop: `body(i, c, inv, x) -> c'` (no emitted streams).
    pub body: FuncId,
    /// One step of the adjoint.
    pub bwd: FuncId,
    /// How many carries.
    pub carries: usize,
    /// How many invariants.
    pub invariants: usize,
    /// How many input streams.
    pub streams: usize,
    /// How many adjoint carries `a`.
    pub adjoints: usize,
    /// How many cotangents `g` of emitted streams.
    pub emitted: usize,
    /// How many running cotangents `r`.
    pub running: usize,
    /// Extent of every stream (0 where there is none).
    pub bound: usize,
    /// Whether `bwd` is linear in its cotangents.
    pub linearity: Linearity,
}

/// Whether a backward step is linear in its cotangents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Linearity {
    /// It is: the transpose of a derivative. The verifier checks it.
    #[default]
    Linear,
    /// It need not be: a custom rule (clipping) is part of it. Reverse mode over it stores the states of the loop.
    Custom,
}

impl Program {
    /// A Program of one function.
    pub fn new(entry: Function) -> Program {
        Program { functions: vec![entry], entry: FuncId(0) }
    }

    /// A function.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The function that runs.
    pub fn main(&self) -> &Function {
        self.function(self.entry)
    }

    /// Whether a run of each function has an effect.
    pub fn effects(&self) -> Vec<bool> {
        self.reaching(|lowering| lowering.has_effect())
    }

    /// Whether a run of each function shows something: then the numbers of its steps are seen, too.
    pub fn probes(&self) -> Vec<bool> {
        self.reaching(|lowering| *lowering == Lowering::Probe || lowering.is_host())
    }

    /// Whether a run of each function calls a function of the host that must not be called again.
    pub fn hosts(&self) -> Vec<bool> {
        self.reaching(|lowering| lowering.is_host() && lowering.has_effect())
    }

    /// Whether a run of each function comes to such a row.
    fn reaching(&self, row: impl Fn(&Lowering) -> bool) -> Vec<bool> {
        fn reaches(
            program: &Program,
            id: FuncId,
            row: &impl Fn(&Lowering) -> bool,
            known: &mut Vec<Option<bool>>,
        ) -> bool {
            if let Some(known) = known[id.0 as usize] {
                return known;
            }
            let found = program
                .function(id)
                .insts
                .iter()
                .any(|inst| inst.reaches(row, |body| reaches(program, body, row, known)));
            known[id.0 as usize] = Some(found);
            found
        }
        let mut known = vec![None; self.functions.len()];
        (0..self.functions.len()).map(|k| reaches(self, FuncId(k as u32), &row, &mut known)).collect()
    }

    /// Adds a function.
    pub fn add(&mut self, function: Function) -> FuncId {
        self.functions.push(function);
        FuncId(u32::try_from(self.functions.len() - 1).expect("fewer than 2^32 functions"))
    }
}

impl Function {
    /// The type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.types[value.0 as usize]
    }

    /// Types of the parameters.
    pub fn param_types(&self) -> Vec<Type> {
        self.params.iter().map(|v| self.ty(*v).clone()).collect()
    }

    /// Types of the results.
    pub fn result_types(&self) -> Vec<Type> {
        self.results.iter().map(|v| self.ty(*v).clone()).collect()
    }
}

impl Inst {
    /// What it is, and the user's line.
    pub fn origin(&self) -> String {
        let name = self.op.name();
        if self.pos.is_known() { format!("{name} at {}", self.pos) } else { name.into() }
    }

    /// Whether it has an effect, given which bodies have. The functions of a custom rule do not run where the call
    /// does.
    pub fn has_effect(&self, of_body: impl FnMut(FuncId) -> bool) -> bool {
        self.reaches(Lowering::has_effect, of_body)
    }

    fn reaches(&self, of_row: impl Fn(&Lowering) -> bool, mut of_body: impl FnMut(FuncId) -> bool) -> bool {
        match &self.op {
            Op::Def(def, _) => of_row(&def.lowering),
            Op::Call(op) => of_body(op.body),
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) => self.bodies().into_iter().any(of_body),
        }
    }

    /// The bodies that this instruction runs.
    pub fn bodies(&self) -> Vec<FuncId> {
        match &self.op {
            Op::Def(..) => vec![],
            Op::If(op) => vec![op.then_body, op.else_body],
            Op::For(op) => vec![op.body],
            Op::While(op) => vec![op.cond, op.body],
            Op::Unwind(op) => vec![op.body, op.bwd],
            Op::Call(op) => match &op.rule {
                None => vec![op.body],
                Some(CustomRule::Vjp { forward, backward }) => vec![op.body, *forward, *backward],
                Some(CustomRule::Jvp { tangent }) => vec![op.body, *tangent],
            },
        }
    }
}

impl Op {
    /// The op over other bodies.
    pub fn map_bodies(&mut self, new: impl Fn(FuncId) -> FuncId) {
        match self {
            Op::Def(..) => {}
            Op::If(op) => (op.then_body, op.else_body) = (new(op.then_body), new(op.else_body)),
            Op::For(op) => op.body = new(op.body),
            Op::While(op) => (op.cond, op.body) = (new(op.cond), new(op.body)),
            Op::Unwind(op) => (op.body, op.bwd) = (new(op.body), new(op.bwd)),
            Op::Call(op) => {
                op.body = new(op.body);
                match &mut op.rule {
                    None => {}
                    Some(CustomRule::Vjp { forward, backward }) => {
                        (*forward, *backward) = (new(*forward), new(*backward))
                    }
                    Some(CustomRule::Jvp { tangent }) => *tangent = new(*tangent),
                }
            }
        }
    }

    /// Name in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Def(def, _) => def.name,
            Op::If(_) => "if",
            Op::For(_) => "for",
            Op::While(_) => "while",
            Op::Unwind(_) => "unwind",
            Op::Call(_) => "call",
        }
    }
}

/// A list cut into consecutive groups of the given lengths.
fn groups<T, const N: usize>(list: &[T], lengths: [usize; N]) -> [&[T]; N] {
    let mut rest = list;
    lengths.map(|length| {
        let (group, tail) = rest.split_at(length);
        rest = tail;
        group
    })
}

impl ForOp {
    /// Arguments of the instruction as (n, c0, inv, xs); also parameters of the body as (i, c, inv, x).
    pub fn args<'a, T: Copy>(&self, args: &'a [T]) -> (T, &'a [T], &'a [T], &'a [T]) {
        let streams = args.len() - 1 - self.carries - self.invariants;
        let [n, c, inv, xs] = groups(args, [1, self.carries, self.invariants, streams]);
        (n[0], c, inv, xs)
    }

    /// Results of the instruction as (cN, ys); also results of the body as (c', y).
    pub fn results<'a, T>(&self, results: &'a [T]) -> (&'a [T], &'a [T]) {
        results.split_at(self.carries)
    }
}

impl WhileOp {
    /// Arguments of the instruction as (c0, inv); also parameters of the condition and of the body as (c, inv).
    pub fn args<'a, T>(&self, args: &'a [T]) -> (&'a [T], &'a [T]) {
        args.split_at(self.carries)
    }

    /// Results of the instruction as (cN, trips).
    pub fn results<'a, T: Copy>(&self, results: &'a [T]) -> (&'a [T], T) {
        (&results[..self.carries], results[self.carries])
    }
}

/// Arguments of an unwind, or parameters of its bwd, by group.
#[derive(Clone, Copy, Debug)]
pub struct UnwindArgs<'a, T> {
    /// The count `n`, or the index `i` of a step.
    pub count: T,
    /// Start state `c0`, or state `c_i`.
    pub carries: &'a [T],
    /// Invariants.
    pub invariants: &'a [T],
    /// Input streams, or their rows.
    pub streams: &'a [T],
    /// Adjoint carries `a`.
    pub adjoints: &'a [T],
    /// Cotangents `g` of emitted streams, or their rows.
    pub emitted: &'a [T],
    /// Running cotangents `r`.
    pub running: &'a [T],
}

impl UnwindOp {
    /// Arguments of the instruction by group; also parameters of bwd.
    pub fn args<'a, T: Copy>(&self, args: &'a [T]) -> UnwindArgs<'a, T> {
        let [count, carries, invariants, streams, adjoints, emitted, running] =
            groups(args, [1, self.carries, self.invariants, self.streams, self.adjoints, self.emitted, self.running]);
        UnwindArgs { count: count[0], carries, invariants, streams, adjoints, emitted, running }
    }

    /// Results as (a', r', h); also results of bwd.
    pub fn results<'a, T>(&self, results: &'a [T]) -> (&'a [T], &'a [T], &'a [T]) {
        let [a, r, h] = groups(results, [self.adjoints, self.running, results.len() - self.adjoints - self.running]);
        (a, r, h)
    }

    /// The loop whose states this unwind walks: the same body, count and groups.
    pub fn trajectory(&self) -> ForOp {
        ForOp { body: self.body, carries: self.carries, invariants: self.invariants, bound: self.bound }
    }
}
