//! Dead code: what no result needs is not computed, per *result* of control flow.
//!
//! A function is sliced to the results that somebody reads. Inside, a loop is sliced to the carries that its live
//! results need, by fixpoint; an unwind to the carries that its live backward results read and those that the body
//! needs to compute them. Slices are made per use, so a body that two instructions share is never cut for the other.
//!
//! Kept places are lists of `bool`. The arguments of a loop or unwind correspond one to one to the parameters of its
//! body or bwd, and likewise the results, so one list serves both sides.

use std::collections::BTreeMap;

use super::edit::Editor;
use super::functions::compact;
use crate::ir::{CallOp, CustomRule, ForOp, FuncId, Function, IfOp, Inst, Op, Program, UnwindOp, Value, WhileOp};

/// Takes away what no result needs: instructions, results and arguments of control flow, functions. The entry keeps its
/// parameters and results.
pub fn dead_code(program: &mut Program) -> bool {
    let mut slicer = Slicer::new(program);
    let entry = program.main();
    let whole = (vec![true; entry.results.len()], vec![true; entry.params.len()]);
    let entry = slicer.slice(program.entry, &whole.0, &whole.1);
    let slices = slicer.functions;
    let changed = !slices.is_empty();
    program.functions.extend(slices);
    program.entry = entry;
    compact(program);
    changed
}

/// For each instruction of a function, whether a value of `roots` needs it. Bodies are those of `program`; the function
/// itself need not be part of it.
pub fn live_insts(function: &Function, program: &Program, roots: &[Value]) -> Vec<bool> {
    let used = Slicer::new(program).used(function, roots.iter().copied());
    let effects = program.effects();
    let live = |inst: &Inst| {
        inst.results.iter().any(|v| used[v.0 as usize]) || inst.has_effect(|body| effects[usize::from(body)])
    };
    function.insts.iter().map(live).collect()
}

/// What is known and made so far.
struct Slicer<'p> {
    program: &'p Program,
    /// Which functions have an effect: that is needed, whatever is read.
    effects: Vec<bool>,
    /// Parameters that a function reads for some of its results.
    reads: BTreeMap<(FuncId, Vec<bool>), Vec<bool>>,
    /// Slices made, by function, results and parameters.
    made: BTreeMap<(FuncId, Vec<bool>, Vec<bool>), FuncId>,
    /// Functions that the new Program has beside the old ones.
    functions: Vec<Function>,
}

/// Arguments and results that an instruction keeps.
struct Kept {
    args: Vec<bool>,
    results: Vec<bool>,
}

impl<'p> Slicer<'p> {
    fn new(program: &'p Program) -> Slicer<'p> {
        Slicer {
            program,
            effects: program.effects(),
            reads: BTreeMap::new(),
            made: BTreeMap::new(),
            functions: Vec::new(),
        }
    }

    /// Which values of a function its roots need, by number.
    fn used(&mut self, function: &Function, roots: impl Iterator<Item = Value>) -> Vec<bool> {
        let mut used = vec![false; function.types.len()];
        roots.for_each(|v| used[v.0 as usize] = true);
        for inst in function.insts.iter().rev() {
            if !self.is_live(inst, &used) {
                continue;
            }
            if let Op::Def(..) = &inst.op {
                inst.args.iter().for_each(|v| used[v.0 as usize] = true);
                continue;
            }
            let kept = self.keep(inst, marks(&inst.results, &used));
            choose(&inst.args, &kept.args).for_each(|v| used[v.0 as usize] = true);
        }
        used
    }

    /// Whether an instruction stays when these values are used.
    fn is_live(&self, inst: &Inst, used: &[bool]) -> bool {
        inst.results.iter().any(|v| used[v.0 as usize]) || inst.has_effect(|body| self.effects[usize::from(body)])
    }

    /// Which parameters a function reads for these results.
    fn reads(&mut self, id: FuncId, results: &[bool]) -> Vec<bool> {
        let key = (id, results.to_vec());
        if let Some(reads) = self.reads.get(&key) {
            return reads.clone();
        }
        let function = self.program.function(id);
        let used = self.used(function, choose(&function.results, results));
        let reads: Vec<bool> = function.params.iter().map(|v| used[v.0 as usize]).collect();
        self.reads.insert(key, reads.clone());
        reads
    }

    /// What a live instruction keeps when these of its results are read.
    fn keep(&mut self, inst: &Inst, results: Vec<bool>) -> Kept {
        match &inst.op {
            Op::Def(..) => Kept { args: vec![true; inst.args.len()], results: vec![true; results.len()] },
            Op::If(op) => self.keep_if(op, results),
            Op::For(op) => self.keep_for(op, results),
            Op::While(op) => self.keep_while(op, results),
            Op::Unwind(op) => self.keep_unwind(op, results),
            Op::Call(CallOp { body, rule: None }) => Kept { args: self.reads(*body, &results), results },
            // The functions of a rule take and return what the body does, so nothing of it goes.
            Op::Call(CallOp { rule: Some(_), .. }) => {
                Kept { args: vec![true; inst.args.len()], results: vec![true; results.len()] }
            }
        }
    }

    fn keep_if(&mut self, op: &IfOp, results: Vec<bool>) -> Kept {
        let mut args = self.reads(op.then_body, &results);
        merge(&mut args, &self.reads(op.else_body, &results));
        args.insert(0, true);
        Kept { args, results }
    }

    /// A carry is live iff its final value is read or a live result of the body reads it.
    fn keep_for(&mut self, op: &ForOp, mut results: Vec<bool>) -> Kept {
        let mut args = self.reads(op.body, &results);
        while merge(&mut results[..op.carries], &args[1..][..op.carries]) {
            args = self.reads(op.body, &results);
        }
        args[0] = true;
        merge(&mut args[1..], &results[..op.carries]);
        Kept { args, results }
    }

    /// A carry is live iff its final value is read, or the condition or a live result of the body reads it. The trips
    /// are always there.
    fn keep_while(&mut self, op: &WhileOp, mut results: Vec<bool>) -> Kept {
        let mut args = self.reads(op.cond, &[true]);
        merge(&mut args, &results[..op.carries]);
        while merge(&mut results[..op.carries], &args[..op.carries])
            | merge(&mut args, &self.reads(op.body, &results[..op.carries]))
        {}
        results[op.carries] = true;
        Kept { args, results }
    }

    /// Backwards first: an adjoint or running cotangent is live iff its result is read or a live result of bwd reads
    /// it. Then the carries: those that bwd reads, and those that the body reads to compute them.
    fn keep_unwind(&mut self, op: &UnwindOp, mut results: Vec<bool>) -> Kept {
        let inputs = 1 + op.carries + op.invariants + op.streams;
        let (adjoints, running) = (inputs, inputs + op.adjoints + op.emitted);
        let mut args = self.reads(op.bwd, &results);
        loop {
            let grew = merge(&mut results, &args[adjoints..][..op.adjoints]);
            if !merge(&mut results[op.adjoints..], &args[running..][..op.running]) && !grew {
                break;
            }
            args = self.reads(op.bwd, &results);
        }
        merge(&mut args[adjoints..], &results[..op.adjoints]);
        merge(&mut args[running..], &results[op.adjoints..][..op.running]);
        loop {
            let reads = self.reads(op.body, &args[1..=op.carries]);
            if !merge(&mut args[..inputs], &reads) {
                break;
            }
        }
        args[0] = true;
        Kept { args, results }
    }

    /// The function with these results and parameters only.
    fn slice(&mut self, id: FuncId, results: &[bool], params: &[bool]) -> FuncId {
        let key = (id, results.to_vec(), params.to_vec());
        if let Some(made) = self.made.get(&key) {
            return *made;
        }
        let old = self.program.function(id);
        let used = self.used(old, choose(&old.results, results));
        let mut editor = Editor::empty(old);
        choose(&old.params, params).for_each(|param| editor.param(param));
        for inst in &old.insts {
            if !self.is_live(inst, &used) {
                continue;
            }
            if let Op::Def(..) = &inst.op {
                editor.copy(inst);
                continue;
            }
            let kept = self.keep(inst, marks(&inst.results, &used));
            let op = self.slice_op(&inst.op, &kept);
            let args: Vec<Value> = choose(&inst.args, &kept.args).collect();
            let results: Vec<Value> = choose(&inst.results, &kept.results).collect();
            editor.replace(inst, op, editor.values(&args), &results);
        }
        let results: Vec<Value> = choose(&old.results, results).collect();
        // A function of which everything is needed stays what it is.
        let made = editor.finish_with(&results).map_or(id, |slice| self.add(slice));
        self.made.insert(key, made);
        made
    }

    fn add(&mut self, slice: Function) -> FuncId {
        self.functions.push(slice);
        FuncId(
            u32::try_from(self.program.functions.len() + self.functions.len() - 1).expect("fewer than 2^32 functions"),
        )
    }

    /// The op over sliced bodies.
    fn slice_op(&mut self, op: &Op, kept: &Kept) -> Op {
        let Kept { args, results } = kept;
        match op {
            Op::Def(def, attrs) => Op::Def(def, attrs.clone()),
            Op::If(op) => Op::If(IfOp {
                then_body: self.slice(op.then_body, results, &args[1..]),
                else_body: self.slice(op.else_body, results, &args[1..]),
            }),
            Op::For(op) => {
                let (_, carries, invariants, xs) = op.args(args);
                let (_, ys) = op.results(results);
                let (carries, invariants, streams) = (count(carries), count(invariants), count(xs) + count(ys));
                Op::For(ForOp {
                    body: self.slice(op.body, results, args),
                    carries,
                    invariants,
                    bound: bound(op.bound, streams),
                })
            }
            Op::Unwind(op) => {
                let groups = op.args(args);
                let (_, _, h) = op.results(results);
                let inputs = 1 + op.carries + op.invariants + op.streams;
                let streams = count(groups.streams) + count(groups.emitted) + count(h);
                Op::Unwind(UnwindOp {
                    body: self.slice(op.body, groups.carries, &args[..inputs]),
                    bwd: self.slice(op.bwd, results, args),
                    carries: count(groups.carries),
                    invariants: count(groups.invariants),
                    streams: count(groups.streams),
                    adjoints: count(groups.adjoints),
                    emitted: count(groups.emitted),
                    running: count(groups.running),
                    bound: bound(op.bound, streams),
                    linearity: op.linearity,
                })
            }
            Op::While(op) => {
                let carries = &results[..op.carries];
                let (cond, body) = (self.slice(op.cond, &[true], args), self.slice(op.body, carries, args));
                Op::While(WhileOp { cond, body, carries: count(carries) })
            }
            Op::Call(CallOp { body, rule }) => {
                let whole = |slicer: &mut Self, id: FuncId| {
                    let function = slicer.program.function(id);
                    slicer.slice(id, &vec![true; function.results.len()], &vec![true; function.params.len()])
                };
                let rule = rule.as_ref().map(|rule| match rule {
                    CustomRule::Vjp { forward, backward } => {
                        CustomRule::Vjp { forward: whole(self, *forward), backward: whole(self, *backward) }
                    }
                    CustomRule::Jvp { tangent } => CustomRule::Jvp { tangent: whole(self, *tangent) },
                });
                Op::Call(CallOp { body: self.slice(*body, results, args), rule })
            }
        }
    }
}

/// The extent of streams, 0 where there is none left.
fn bound(extent: usize, streams: usize) -> usize {
    if streams == 0 { 0 } else { extent }
}

/// Which of these values are used.
fn marks(values: &[Value], used: &[bool]) -> Vec<bool> {
    values.iter().map(|v| used[v.0 as usize]).collect()
}

fn count(kept: &[bool]) -> usize {
    kept.iter().filter(|kept| **kept).count()
}

/// The kept items of a list.
fn choose<T: Copy>(list: &[T], kept: &[bool]) -> impl Iterator<Item = T> {
    assert_eq!(list.len(), kept.len(), "one mark per item");
    list.iter().zip(kept).filter(|(_, kept)| **kept).map(|(item, _)| *item)
}

/// Marks in `into` what is marked in `from`, place by place; whether anything is new.
fn merge(into: &mut [bool], from: &[bool]) -> bool {
    let mut grew = false;
    for (into, from) in into.iter_mut().zip(from) {
        grew |= *from && !*into;
        *into |= *from;
    }
    grew
}
