//! Whether a function is linear in some of its parameters, by the rules of the rows.
//!
//! Every value is the literal zero, a constant (it does not depend on the seeds), linear in the seeds, or neither. Only
//! what reaches a result is judged. A loop's carries are a fixpoint.

use std::collections::BTreeMap;

use super::element::{Element, each_element};
use super::error::{Error, ErrorKind, Pos};
use super::op_def::{Lowering, OpDef, Partial, Rule, Transpose};
use super::program::{ForOp, FuncId, Function, Inst, Linearity, Op, Program, UnwindArgs, UnwindOp, WhileOp};

/// Checks that the results of a function are linear in the parameters marked as seeds, taken together; says for each
/// result whether it depends on the seeds at all. One that does not must be zero, else the function would be affine:
/// that, like any other departure from linearity, is an error that names the instruction.
///
/// The Program must be verified otherwise: types fit and bodies do not recurse.
///
/// ```
/// use retrograd_compiler::{ir, ops};
/// let text = "fn main(%0: f64, %1: f64) -> f64 {\n  %2: f64 = mul %0, %1\n  return %2\n}";
/// let program = ops::parse(text, "mul.rg").unwrap();
/// assert_eq!(ir::linear_in(&program, program.entry, &[false, true]), Ok(vec![true]));
/// assert!(ir::linear_in(&program, program.entry, &[true, true]).is_err());
/// ```
pub fn linear_in(program: &Program, function: FuncId, seeds: &[bool]) -> Result<Vec<bool>, Error> {
    let params = seeds.iter().map(|seed| if *seed { Kind::Linear } else { Kind::Constant }).collect();
    Analysis::new(program).judge(function, params)
}

/// Checks that every bwd that a function runs, unless it is marked otherwise, is linear in (a, g, r), knowing which of
/// its other arguments are zero.
pub(super) fn check_unwinds(program: &Program, id: FuncId) -> Result<(), Error> {
    let mut analysis = Analysis::new(program);
    let function = program.function(id);
    let mut kinds: Option<Vec<Kind>> = None;
    for inst in &function.insts {
        let Op::Unwind(op) = &inst.op else { continue };
        if op.linearity == Linearity::Custom {
            continue;
        }
        let kinds = kinds.get_or_insert_with(|| analysis.values(id, &vec![Kind::Constant; function.params.len()]));
        let args: Vec<Kind> = inst.args.iter().map(|v| kinds[v.0 as usize]).collect();
        let UnwindArgs { invariants, streams, adjoints, emitted, running, .. } = op.args(&args);
        let states = analysis.states(function, inst, op, &args);
        let seeds = vec![Kind::Linear; adjoints.len() + emitted.len() + running.len()];
        let params = [&[Kind::Constant], &states[..], invariants, streams, &seeds].concat();
        analysis.judge(op.bwd, params).map_err(|error| error.at(&inst.pos))?;
    }
    Ok(())
}

/// How a value depends on the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Zero, whatever the seeds: constant and linear alike.
    Zero,
    /// Does not depend on the seeds.
    Constant,
    /// Linear in the seeds.
    Linear,
    /// None of these; the number of the error that says where.
    Neither(usize),
}

struct Analysis<'p> {
    program: &'p Program,
    faults: Vec<Error>,
    /// Results of a function by the kinds of its parameters; bodies are shared, and loops ask again.
    memo: BTreeMap<(FuncId, Vec<Kind>), Vec<Kind>>,
}

fn constant_result(function: &Function, k: usize) -> Error {
    let value = function.results[k];
    let inst = function.insts.iter().find(|inst| inst.results.contains(&value));
    let pos = inst.map_or(Pos::unknown(), |inst| inst.pos.clone());
    let message = format!(
        "result {k} of `{}`, %{}, must be linear in the cotangents but does not depend on them and is not zero",
        function.name, value.0
    );
    Error::new(ErrorKind::Verify, pos, message)
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program) -> Analysis<'p> {
        Analysis { program, faults: Vec::new(), memo: BTreeMap::new() }
    }

    /// Which results depend on the seeds, or the first that is neither linear nor zero.
    fn judge(&mut self, id: FuncId, params: Vec<Kind>) -> Result<Vec<bool>, Error> {
        let kinds = self.function(id, params);
        let judge = |(k, kind): (usize, &Kind)| match kind {
            Kind::Zero => Ok(false),
            Kind::Linear => Ok(true),
            Kind::Constant => Err(constant_result(self.program.function(id), k)),
            Kind::Neither(fault) => Err(self.faults[*fault].clone()),
        };
        kinds.iter().enumerate().map(judge).collect()
    }

    /// Kinds of the results of a function.
    fn function(&mut self, id: FuncId, params: Vec<Kind>) -> Vec<Kind> {
        if let Some(results) = self.memo.get(&(id, params.clone())) {
            return results.clone();
        }
        let kinds = self.values(id, &params);
        let results: Vec<Kind> = self.program.function(id).results.iter().map(|v| kinds[v.0 as usize]).collect();
        self.memo.insert((id, params), results.clone());
        results
    }

    /// Kinds of all values of a function.
    fn values(&mut self, id: FuncId, params: &[Kind]) -> Vec<Kind> {
        let function = self.program.function(id);
        let mut kinds = vec![Kind::Constant; function.types.len()];
        for (param, kind) in function.params.iter().zip(params) {
            kinds[param.0 as usize] = *kind;
        }
        for inst in &function.insts {
            let args: Vec<Kind> = inst.args.iter().map(|v| kinds[v.0 as usize]).collect();
            for (value, kind) in inst.results.iter().zip(self.inst(function, inst, &args)) {
                kinds[value.0 as usize] = kind;
            }
        }
        kinds
    }

    fn inst(&mut self, function: &Function, inst: &Inst, args: &[Kind]) -> Vec<Kind> {
        match &inst.op {
            Op::Def(def, _) => vec![self.row(function, inst, def, args)],
            Op::If(_) | Op::For(_) | Op::Unwind(_) if !self.is_constant(args[0]) => {
                let kind = self.fault(function, inst, "a cotangent decides what runs");
                vec![kind; inst.results.len()]
            }
            Op::If(op) => {
                let then = self.function(op.then_body, args[1..].to_vec());
                let otherwise = self.function(op.else_body, args[1..].to_vec());
                self.join(function, inst, &then, &otherwise)
            }
            Op::For(op) => self.counted_loop(function, inst, op, args),
            Op::While(op) => self.conditional_loop(function, inst, op, args),
            // A rule is what the user says, and need not be the derivative of a body that is linear.
            Op::Call(op) if op.rule.is_some() && !args.iter().all(|kind| self.is_constant(*kind)) => {
                let kind = self.fault(function, inst, "a custom rule differentiates a cotangent");
                vec![kind; inst.results.len()]
            }
            Op::Call(op) => self.function(op.body, args.to_vec()),
            Op::Unwind(op) => self.unwind(function, inst, op, args),
        }
    }

    fn is_constant(&self, kind: Kind) -> bool {
        match kind {
            Kind::Zero | Kind::Constant => true,
            Kind::Linear | Kind::Neither(_) => false,
        }
    }

    fn counted_loop(&mut self, function: &Function, inst: &Inst, op: &ForOp, args: &[Kind]) -> Vec<Kind> {
        let (_, c0, inv, xs) = op.args(args);
        let mut carries = c0.to_vec();
        loop {
            let results = self.function(op.body, [&[Kind::Constant], &carries[..], inv, xs].concat());
            let (stepped, emitted) = op.results(&results);
            let joined = self.join(function, inst, &carries, stepped);
            if joined == carries {
                return [&carries, emitted].concat();
            }
            carries = joined;
        }
    }

    fn conditional_loop(&mut self, function: &Function, inst: &Inst, op: &WhileOp, args: &[Kind]) -> Vec<Kind> {
        let (c0, inv) = op.args(args);
        let mut carries = c0.to_vec();
        loop {
            let params = [&carries[..], inv].concat();
            let more = self.function(op.cond, params.clone())[0];
            if !self.is_constant(more) {
                let kind = self.fault(function, inst, "a cotangent decides what runs");
                return vec![kind; inst.results.len()];
            }
            let stepped = self.function(op.body, params);
            let joined = self.join(function, inst, &carries, &stepped);
            if joined == carries {
                return [&carries[..], &[Kind::Constant]].concat();
            }
            carries = joined;
        }
    }

    fn unwind(&mut self, function: &Function, inst: &Inst, op: &UnwindOp, args: &[Kind]) -> Vec<Kind> {
        let UnwindArgs { invariants, streams, adjoints, emitted, running, .. } = op.args(args);
        let states = self.states(function, inst, op, args);
        let (mut a, mut r) = (adjoints.to_vec(), running.to_vec());
        loop {
            let params = [&[Kind::Constant], &states[..], invariants, streams, &a, emitted, &r].concat();
            let results = self.function(op.bwd, params);
            let (a_next, r_next, h) = op.results(&results);
            let (a_next, r_next) = (self.join(function, inst, &a, a_next), self.join(function, inst, &r, r_next));
            if a_next == a && r_next == r {
                return [&a, &r, h].concat();
            }
            (a, r) = (a_next, r_next);
        }
    }

    /// The carries of an unwind's loop.
    fn states(&mut self, function: &Function, inst: &Inst, op: &UnwindOp, args: &[Kind]) -> Vec<Kind> {
        let forward = &args[..1 + op.carries + op.invariants + op.streams];
        self.counted_loop(function, inst, &op.trajectory(), forward)
    }

    /// What a value is that may be either.
    fn join(&mut self, function: &Function, inst: &Inst, a: &[Kind], b: &[Kind]) -> Vec<Kind> {
        let mut join = |pair: (&Kind, &Kind)| match pair {
            (Kind::Neither(fault), _) | (_, Kind::Neither(fault)) => Kind::Neither(*fault),
            (Kind::Zero, other) | (other, Kind::Zero) => *other,
            (Kind::Constant, Kind::Constant) => Kind::Constant,
            (Kind::Linear, Kind::Linear) => Kind::Linear,
            (Kind::Constant, Kind::Linear) | (Kind::Linear, Kind::Constant) => self.fault(
                function,
                inst,
                "a result depends on the cotangents only sometimes and is not zero otherwise",
            ),
        };
        a.iter().zip(b).map(&mut join).collect()
    }

    fn row(&mut self, function: &Function, inst: &Inst, def: &OpDef, args: &[Kind]) -> Kind {
        // Who looks at a cotangent does not change it.
        if def.lowering.has_effect() && !def.lowering.is_host() {
            return Kind::Constant;
        }
        if let Some(fault) = args.iter().find(|kind| matches!(kind, Kind::Neither(_))) {
            return *fault;
        }
        if !args.contains(&Kind::Linear) {
            let vanishes =
                is_zero_literal(inst) || (args.contains(&Kind::Zero) && jointly_linear(def, args, Kind::Zero).is_ok());
            return if vanishes { Kind::Zero } else { Kind::Constant };
        }
        let is_float = inst.results.iter().all(|v| function.ty(*v).dtype.is_float());
        match jointly_linear(def, args, Kind::Linear) {
            Ok(()) if is_float => Kind::Linear,
            Ok(()) => self.fault(function, inst, "its result is not a float"),
            Err(reason) => self.fault(function, inst, reason),
        }
    }

    fn fault(&mut self, function: &Function, inst: &Inst, reason: &str) -> Kind {
        let value = inst.results.first().map_or(String::new(), |v| format!("%{} = ", v.0));
        let message =
            format!("`{value}{}` in `{}` is not linear in the cotangents: {reason}", inst.op.name(), function.name);
        self.faults.push(Error::new(ErrorKind::Verify, inst.pos.clone(), message));
        Kind::Neither(self.faults.len() - 1)
    }
}

fn is_zero_literal(inst: &Inst) -> bool {
    let Op::Def(def, attrs) = &inst.op else { return false };
    def.lowering == Lowering::Constant
        && each_element!(attrs.array("value").dtype(), T => T::of(attrs.array("value")).iter().all(|x| !x.to_bool()))
}

/// Whether the row is linear in its arguments of kind `seed`, taken together, the others being constant. With `Zero` as
/// the seed: whether it vanishes with them.
fn jointly_linear(def: &OpDef, args: &[Kind], seed: Kind) -> Result<(), &'static str> {
    let is_seed = |k: usize| args[k] == seed;
    match def.rule {
        Rule::Zero => Err("it is flat in its arguments"),
        Rule::Missing => Err("it has no derivative rule"),
        Rule::Bilinear(_) if seed == Kind::Linear && is_seed(0) && is_seed(1) => Err("it multiplies two of them"),
        Rule::Bilinear(_) => Ok(()),
        Rule::Linear(transposes) => linear(&moving(transposes, args.len()), args, seed),
        Rule::LinearInEach(_) => linear(&vec![true; args.len()], args, seed),
        Rule::Tangent { linear: [], .. } => Err("it is not linear in its arguments"),
        Rule::Tangent { linear: transposes, .. } => multilinear(&moving(transposes, args.len()), args, seed),
        Rule::Partials(partials) => elementwise(partials, args, seed),
    }
}

/// Arguments that have a transpose.
fn moving(transposes: &[Option<Transpose>], count: usize) -> Vec<bool> {
    (0..count).map(|k| transposes.get(k).is_some_and(Option::is_some)).collect()
}

/// A row that is linear in the arguments that move, taken together, the others being indices and factors.
fn linear(moves: &[bool], args: &[Kind], seed: Kind) -> Result<(), &'static str> {
    // An index that is zero has no part in whether the result vanishes.
    if seed == Kind::Linear && moves.iter().zip(args).any(|(moves, kind)| !moves && *kind == seed) {
        Err("it is not linear in this argument")
    } else if moves.iter().zip(args).any(|(moves, kind)| *moves && *kind == Kind::Constant) {
        Err("it adds a constant that is not zero")
    } else {
        Ok(())
    }
}

/// A row that is linear in each of the arguments that move: a product of them, which vanishes with one.
fn multilinear(moves: &[bool], args: &[Kind], seed: Kind) -> Result<(), &'static str> {
    let seeds =
        |moving: bool| moves.iter().zip(args).filter(|(moves, kind)| **moves == moving && **kind == seed).count();
    match (seed, seeds(true)) {
        (Kind::Linear, _) if seeds(false) > 0 => Err("it is not linear in this argument"),
        (Kind::Linear, 2..) => Err("it multiplies two of them"),
        (_, 0) => Err("it is not linear in its arguments"),
        _ => Ok(()),
    }
}

/// y = Σ ±x_k over the partials ±1, plus a rest. The rest is linear in one `Factor` argument; it vanishes where one of
/// them is zero, and where there are no other arguments.
fn elementwise(partials: &[Partial], args: &[Kind], seed: Kind) -> Result<(), &'static str> {
    let (mut factors, mut has_rest, mut vanishes) = (0, false, false);
    for (partial, kind) in partials.iter().zip(args) {
        match partial {
            Partial::One | Partial::MinusOne if *kind == Kind::Constant => {
                return Err("it adds a constant that is not zero");
            }
            Partial::One | Partial::MinusOne => {}
            Partial::Zero | Partial::Of(_) | Partial::Gate(_) if *kind == seed => {
                return Err("it is not linear in this argument");
            }
            Partial::Zero | Partial::Of(_) | Partial::Gate(_) => has_rest = true,
            Partial::Factor(_) => {
                factors += usize::from(*kind == Kind::Linear);
                vanishes |= *kind == Kind::Zero;
                has_rest = true;
            }
        }
    }
    match factors {
        0 if has_rest && !vanishes => Err("it adds a constant that is not zero"),
        0 | 1 => Ok(()),
        _ => Err("it multiplies two of them"),
    }
}
