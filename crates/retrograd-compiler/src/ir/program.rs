//! Functions, instructions and the constructs of control flow.

use super::attr::Attrs;
use super::error::Pos;
use super::row::Row;
use super::types::Type;

/// A value of one function: `%7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A function of one Program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    Row(&'static Row, Attrs),
    /// A branch.
    If(IfOp),
    /// A counted loop.
    For(ForOp),
    /// The adjoint of a counted loop.
    Unwind(UnwindOp),
}

/// `if p, args {then, else}`: both bodies take `args` and return results of the same types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IfOp {
    /// Runs when the predicate holds.
    pub then_body: FuncId,
    /// Runs otherwise.
    pub else_body: FuncId,
}

/// `for n, c0, inv, xs {body} -> cN, ys` with `body(i, c, inv, x) -> (c', y)`.
///
/// Arguments are grouped `[n] ++ c0 ++ inv ++ xs`, results `cN ++ ys`. `n` is an i64 scalar. `xs` are read by index along their
/// leading axis, `ys` are emitted likewise; rows of `ys` beyond `n` are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// `unwind n, c0, inv, xs, a, g, r0 {body, bwd} -> a', r', h`: for i = n−1 … 0, `(a, r, h_i) = bwd(i, c_i, inv, x_i, a, g_i, r)`,
/// where `c_i` is the state that `for n, c0, inv, xs {body}` has before step i.
///
/// `bwd` is linear in (a, g, r). Where the `c_i` come from is the planner's decision alone.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The bodies that this instruction runs.
    pub fn bodies(&self) -> Vec<FuncId> {
        match &self.op {
            Op::Row(..) => vec![],
            Op::If(op) => vec![op.then_body, op.else_body],
            Op::For(op) => vec![op.body],
            Op::Unwind(op) => vec![op.body, op.bwd],
        }
    }
}

impl Op {
    /// Name in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Row(row, _) => row.name,
            Op::If(_) => "if",
            Op::For(_) => "for",
            Op::Unwind(_) => "unwind",
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
