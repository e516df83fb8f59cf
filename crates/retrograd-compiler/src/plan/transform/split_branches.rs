//! Branch splitting: steps backwards whose branches are taken apart, so that a record can keep what is computed inside them.
//!
//! What of a branch does not depend on cotangents becomes an `if` of its own for each value, the rest one more: then a
//! cut decides about the values of a branch as about all others. Values of equal types of the two branches share a
//! place, so that a record has room for the larger branch and not for both; where a branch has nothing to put there, it
//! is zeros that nobody reads. What a cut does not part is one `if` again when it is placed
//! (`memory/flatten/branches.rs`).

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Builder, FuncId, Function, IfOp, Inst, Op, Program, Type, Value};
use crate::plan::analysis::pair::pairs;
use crate::plan::analysis::work::SimdTarget;
use crate::plan::transform::split::extract_among;

/// A Program, with steps backwards whose branches are taken apart beside those that it has.
#[derive(Clone, Debug)]
pub(in crate::plan) struct BranchSplit {
    pub(in crate::plan) program: Program,
    /// By the bwd that they are another form of.
    steps: BTreeMap<FuncId, Step>,
    /// Sides of branches that have nothing to give: what they return nobody reads.
    idle: BTreeSet<FuncId>,
}

/// A function whose branches are taken apart.
#[derive(Clone, Debug)]
struct Step {
    function: Function,
    /// What makes the values of branches.
    origins: BTreeMap<Value, String>,
}

impl BranchSplit {
    /// The step backwards that cuts are made of, by its bwd.
    pub(in crate::plan) fn step(&self, bwd: FuncId) -> &Function {
        self.steps.get(&bwd).map_or_else(|| self.program.function(bwd), |step| &step.function)
    }

    /// Whether nobody reads what a side of a branch returns.
    pub(in crate::plan) fn is_idle(&self, side: FuncId) -> bool {
        self.idle.contains(&side)
    }

    /// What makes a value of a branch of such a step.
    pub(in crate::plan) fn origin(&self, bwd: FuncId, value: Value) -> Option<&String> {
        self.steps.get(&bwd)?.origins.get(&value)
    }
}

/// Takes apart what branches of steps backwards compute without cotangents.
pub(in crate::plan) fn branch_split(program: &Program, vectors: SimdTarget) -> BranchSplit {
    let mut parting =
        Splitting { program: program.clone(), effects: program.effects(), idle: BTreeSet::new(), vectors };
    let mut steps = BTreeMap::new();
    for inst in program.functions.iter().flat_map(|function| &function.insts) {
        if let Op::Unwind(op) = &inst.op
            && op.carries > 0
            && !steps.contains_key(&op.bwd)
        {
            let bwd = program.function(op.bwd);
            let params = op.args(&bwd.params);
            let cotangents = params.adjoints.iter().chain(params.emitted).chain(params.running);
            let dependent = parting.dependent(bwd, cotangents.copied(), &BTreeSet::new());
            steps.insert(op.bwd, parting.function(bwd, &dependent));
        }
    }
    let steps = steps.into_iter().filter_map(|(bwd, step)| Some((bwd, step?))).collect();
    BranchSplit { program: parting.program, steps, idle: parting.idle }
}

struct Splitting {
    program: Program,
    /// Which functions have an effect.
    effects: Vec<bool>,
    idle: BTreeSet<FuncId>,
    vectors: SimdTarget,
}

/// One of two branches.
struct Side {
    function: Function,
    origins: BTreeMap<Value, String>,
    /// Values that what depends on cotangents reads.
    needed: Vec<bool>,
    /// Instructions that those follow from.
    forward: Vec<Forward>,
}

/// An instruction that does not depend on cotangents.
#[derive(Clone, Debug)]
struct Forward {
    inst: Inst,
    types: Vec<Type>,
    work: u64,
}

impl Splitting {
    fn add(&mut self, function: Function) -> FuncId {
        self.effects.push(function.insts.iter().any(|inst| self.has_effect(inst)));
        self.program.add(function)
    }

    fn has_effect(&self, inst: &Inst) -> bool {
        inst.has_effect(|body| self.effects[usize::from(body)])
    }

    /// Which values depend on cotangents, or stay with what does: effects, and what follows from instructions that
    /// stay.
    fn dependent(
        &self,
        function: &Function,
        cotangents: impl Iterator<Item = Value>,
        staying: &BTreeSet<usize>,
    ) -> Vec<bool> {
        let mut dependent = vec![false; function.types.len()];
        cotangents.for_each(|v| dependent[v.0 as usize] = true);
        for (k, inst) in function.insts.iter().enumerate() {
            let stays =
                staying.contains(&k) || self.has_effect(inst) || inst.args.iter().any(|v| dependent[v.0 as usize]);
            inst.results.iter().for_each(|v| dependent[v.0 as usize] = stays);
        }
        dependent
    }

    /// A function with its branches taken apart; none where there is nothing to take.
    fn function(&mut self, from: &Function, dependent: &[bool]) -> Option<Step> {
        let builder = Builder::new(format!("{}_parted", from.name));
        let params = builder.params(from.param_types());
        let (mut map, mut origins, mut branch_split) = (builder.map(from, &params), BTreeMap::new(), false);
        for inst in &from.insts {
            let args: Vec<Value> =
                inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
            let depends = |v: &Value| dependent[v.0 as usize];
            let results = match &inst.op {
                Op::If(op) if !depends(&inst.args[0]) && inst.results.iter().any(depends) => {
                    let cotangents: Vec<bool> = inst.args[1..].iter().map(depends).collect();
                    self.branch(&builder, (from, inst, op), &args, &cotangents, &mut origins)
                }
                Op::If(_) | Op::Def(..) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
            };
            branch_split |= results.is_some();
            let results = results.unwrap_or_else(|| builder.copy(from, inst, args));
            inst.results.iter().zip(results).for_each(|(old, new)| map[old.0 as usize] = Some(new));
        }
        let results = from.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect();
        branch_split.then(|| Step { function: builder.finish(results), origins })
    }

    /// A branch, itself taken apart.
    fn side(&mut self, body: FuncId, cotangents: &[bool]) -> Side {
        let function = self.program.function(body).clone();
        let marked = |function: &Function| {
            function.params.iter().zip(cotangents).filter(|(_, is)| **is).map(|(v, _)| *v).collect::<Vec<_>>()
        };
        let step = {
            let dependent = self.dependent(&function, marked(&function).into_iter(), &BTreeSet::new());
            self.function(&function, &dependent)
        };
        let Step { function, origins } = step.unwrap_or(Step { function, origins: BTreeMap::new() });
        // A loop that its adjoint walks back along stays with it.
        let staying = pairs(&self.program, &function).iter().map(|pair| pair.loop_inst).collect();
        let dependent = self.dependent(&function, marked(&function).into_iter(), &staying);
        let rest = function
            .insts
            .iter()
            .filter(|inst| inst.results.iter().any(|v| dependent[v.0 as usize]) || self.has_effect(inst));
        let mut needed = vec![false; function.types.len()];
        rest.flat_map(|inst| &inst.args).chain(&function.results).for_each(|v| needed[v.0 as usize] = true);
        let (mut wanted, mut forward, priced) = (needed.clone(), vec![], self.vectors.priced(&self.program, &function));
        for inst in function.insts.iter().rev() {
            let [depends, is_wanted] =
                [&dependent, &wanted].map(|flags| inst.results.iter().any(|v| flags[v.0 as usize]));
            // A literal is everywhere at hand.
            if is_wanted && !depends && !inst.args.is_empty() {
                inst.args.iter().for_each(|v| wanted[v.0 as usize] = true);
                let types = inst.results.iter().map(|v| function.ty(*v).clone()).collect();
                forward.push(Forward { types, work: priced.inst(inst), inst: inst.clone() });
            }
        }
        forward.reverse();
        Side { function, origins, needed, forward }
    }

    /// An `if` for each pair of values of the two branches, and one for the rest; its results.
    fn branch(
        &mut self,
        builder: &Builder,
        (from, inst, op): (&Function, &Inst, &IfOp),
        args: &[Value],
        cotangents: &[bool],
        origins: &mut BTreeMap<Value, String>,
    ) -> Option<Vec<Value>> {
        let sides = [op.then_body, op.else_body].map(|body| self.side(body, cotangents));
        if sides.iter().flat_map(|side| &side.forward).all(|forward| forward.work == 0) {
            return None;
        }
        let mut outside = sides.each_ref().map(|side| builder.map(&side.function, &args[1..]));
        for pair in aligned(&sides[0].forward, &sides[1].forward) {
            let reads = |k: usize| pair[k].map_or(vec![], |forward| forward.inst.args.clone());
            let first = pair.iter().flatten().next().expect("a pair has one or two");
            let ends =
                |k: usize| pair[k].map_or(Ends::Zeros(&first.types), |forward| Ends::Part(&forward.inst.results));
            builder.set_pos(&first.inst.pos);
            let name = format!("{}_part", from.name);
            let results = self.both(builder, (args[0], &name), &sides, &outside, [0, 1].map(reads), [0, 1].map(ends));
            for (k, forward) in pair.iter().enumerate() {
                let Some(forward) = forward else { continue };
                for (inside, result) in forward.inst.results.iter().zip(&results) {
                    outside[k][inside.0 as usize] = Some(*result);
                    let name = sides[k].origins.get(inside).cloned().unwrap_or_else(|| forward.inst.origin());
                    origins
                        .entry(*result)
                        .and_modify(|known: &mut String| known.push_str(&format!(" or {name}")))
                        .or_insert(name);
                }
            }
        }
        builder.set_pos(&inst.pos);
        let needed = |side: &Side| {
            (0..).map(Value).zip(&side.needed).filter(|(_, needed)| **needed).map(|(v, _)| v).collect::<Vec<_>>()
        };
        let name = format!("{}_rest", from.name);
        Some(self.both(
            builder,
            (args[0], &name),
            &sides,
            &outside,
            sides.each_ref().map(needed),
            [Ends::Rest, Ends::Rest],
        ))
    }

    /// An `if` whose branches read these of their values, as far as they are known outside.
    fn both(
        &mut self,
        builder: &Builder,
        (predicate, name): (Value, &str),
        sides: &[Side; 2],
        outside: &[Vec<Option<Value>>; 2],
        reads: [Vec<Value>; 2],
        ends: [Ends<'_>; 2],
    ) -> Vec<Value> {
        let read = |k: usize| {
            let unique: BTreeSet<Value> = reads[k].iter().copied().collect();
            unique.into_iter().filter_map(|v| Some((v, outside[k][v.0 as usize]?))).collect::<Vec<_>>()
        };
        let reads = [0, 1].map(read);
        let bodies = [0, 1].map(|k| {
            let own = |side: usize, inside: Value| (side == k).then_some(inside);
            let param = |side: usize, (inside, outside): &(Value, Value)| (own(side, *inside), builder.ty(*outside));
            let params: Vec<(Option<Value>, Type)> = (0..2)
                .flat_map(|side| reads[side].iter().map(move |read| (side, read)))
                .map(|(side, read)| param(side, read))
                .collect();
            let from = &sides[k].function;
            match ends[k] {
                Ends::Part(results) => extract_among(from, name.to_owned(), &params, results, |_| false),
                Ends::Rest => {
                    extract_among(from, name.to_owned(), &params, &from.results, |inst| self.has_effect(inst))
                }
                Ends::Zeros(types) => {
                    let body = Builder::new(name);
                    body.set_pos(&builder.pos());
                    body.params(params.iter().map(|(_, ty)| ty.clone()));
                    let zeros = types.iter().map(|ty| body.zeros(ty)).collect();
                    body.finish(zeros)
                }
            }
        });
        let types = bodies[0].result_types();
        let [then_body, else_body] = bodies.map(|body| self.add(body));
        let idle = [then_body, else_body].into_iter().zip(ends).filter(|(_, ends)| matches!(ends, Ends::Zeros(_)));
        self.idle.extend(idle.map(|(body, _)| body));
        let given = [predicate].into_iter().chain(reads.iter().flatten().map(|(_, outside)| *outside)).collect();
        builder.push(Op::If(IfOp { then_body, else_body }), given, types)
    }
}

/// What a branch returns.
#[derive(Clone, Copy)]
enum Ends<'a> {
    /// These of its values.
    Part(&'a [Value]),
    /// What it returned, with its effects.
    Rest,
    /// Nothing that anybody reads.
    Zeros(&'a [Type]),
}

/// Which instructions of two branches share their places: those of equal types, in order, the dearest with the dearest.
fn aligned<'a>(one: &'a [Forward], other: &'a [Forward]) -> Vec<[Option<&'a Forward>; 2]> {
    let gain =
        |i: usize, j: usize| (one[i].types == other[j].types).then(|| one[i].work.min(other[j].work).saturating_add(1));
    let mut best = vec![vec![0u64; other.len() + 1]; one.len() + 1];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            let together = gain(i, j).map_or(0, |gain| gain.saturating_add(best[i + 1][j + 1]));
            best[i][j] = together.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, vec![]);
    while i < one.len() || j < other.len() {
        let both = i < one.len() && j < other.len();
        if both && gain(i, j).is_some_and(|gain| gain.saturating_add(best[i + 1][j + 1]) == best[i][j]) {
            pairs.push([Some(&one[i]), Some(&other[j])]);
            (i, j) = (i + 1, j + 1);
        } else if j == other.len() || (i < one.len() && best[i + 1][j] == best[i][j]) {
            pairs.push([Some(&one[i]), None]);
            i += 1;
        } else {
            pairs.push([None, Some(&other[j])]);
            j += 1;
        }
    }
    pairs
}
