//! Control flow that is known: branches and loops of known length dissolve, what a loop does not change leaves its
//! carries, and known numbers move into the bodies, where the planner and the back ends see them.

use super::edit::{Editor, literal, repeat};
use super::functions::edit;
use crate::ir::{
    Array, ForOp, FuncId, Function, IfOp, Inst, Lowering, Op, Pos, Program, Type, UnwindArgs, UnwindOp, Value, WhileOp,
};

/// Dissolves known control flow.
pub fn control(program: &mut Program) -> bool {
    edit(program, |out, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::Def(..) | Op::Call(_) => editor.copy(inst),
                Op::If(op) => rewrite_if(out, &mut editor, inst, op),
                Op::For(op) => rewrite_for(out, &mut editor, inst, op),
                Op::While(op) => rewrite_while(out, &mut editor, inst, op),
                Op::Unwind(op) => rewrite_unwind(out, &mut editor, inst, op),
            }
        }
        editor.finish()
    })
}

fn rewrite_if(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &IfOp) {
    let args = editor.values(&inst.args);
    // if true, args {f, g} = f(args); if false, args {f, g} = g(args)
    if let Some(predicate) = editor.number(args[0]) {
        let body = if predicate.as_bool()[0] { op.then_body } else { op.else_body };
        let results = editor.inline(out.function(body), &args[1..]);
        return editor.bind_all(inst, &results);
    }
    let (args, bodies) = sink(out, editor, &args, 1..args.len(), &[(op.then_body, 1), (op.else_body, 1)], &inst.pos);
    editor.replace(inst, Op::If(IfOp { then_body: bodies[0], else_body: bodies[1] }), args.clone(), &inst.results);
    // A result that is the same argument in both branches is that argument.
    let (then_body, else_body) = (out.function(bodies[0]), out.function(bodies[1]));
    for (k, result) in inst.results.iter().enumerate() {
        let place = |body: &Function| body.params.iter().position(|param| *param == body.results[k]);
        if let (Some(a), Some(b)) = (place(then_body), place(else_body))
            && a == b
        {
            editor.bind(*result, args[1 + a]);
        }
    }
}

fn rewrite_for(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &ForOp) {
    let args = editor.values(&inst.args);
    let (count, c0, inv, xs) = op.args(&args);
    let streams = xs.len() + inst.results.len() - op.carries;
    match editor.int(count) {
        // for 0, c0 {body} = c0; a negative count is 0.
        Some(..=0) if streams == 0 => return editor.bind_all(inst, c0),
        // for 1, c0, inv {body} = body(0, c0, inv); what is shown keeps the number of its step.
        Some(1) if streams == 0 && !out.probes()[usize::from(op.body)] => {
            let zero = editor.full(Array::int(0), &[], &inst.pos);
            let results = editor.inline(out.function(op.body), &[&[zero], c0, inv].concat());
            return editor.bind_all(inst, &results);
        }
        Some(_) | None => {}
    }
    // A carry that the body returns as it came is an invariant, and its final value is its first.
    let fixed = fixed_carries(out.function(op.body), 1, op.carries);
    let carried: Vec<Value> =
        pick(&inst.results[..op.carries], &fixed, false).chain(inst.results[op.carries..].iter().copied()).collect();
    inst.results
        .iter()
        .zip(c0)
        .zip(&fixed)
        .filter(|(_, fixed)| **fixed)
        .for_each(|((result, c), _)| editor.bind(*result, *c));
    let body = settle_params(out, op.body, 1, &fixed, op.invariants);
    let body = drop_results(out, body, &fixed);
    let args = settled(&args, 1, &fixed, op.invariants);
    let carries = fixed.iter().filter(|fixed| !**fixed).count();
    let invariants = op.invariants + op.carries - carries;
    // Known invariants move into the body.
    let places = 1 + carries..1 + carries + invariants;
    let before = args.len();
    let (args, bodies) = sink(out, editor, &args, places, &[(body, 0)], &inst.pos);
    let invariants = invariants + args.len() - before;
    let op = ForOp { body: bodies[0], carries, invariants, bound: op.bound };
    editor.replace(inst, Op::For(op), args, &carried);
}

fn rewrite_while(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &WhileOp) {
    let args = editor.values(&inst.args);
    let (c0, inv) = op.args(&args);
    // while c0 {false, body} = c0, 0; a condition that checks does so once.
    let never = literal_result(out.function(op.cond)).is_some_and(|literal| !literal.as_bool()[0]);
    if never && !out.effects()[usize::from(op.cond)] {
        let zero = editor.full(Array::int(0), &[], &inst.pos);
        return editor.bind_all(inst, &[c0, &[zero]].concat());
    }
    // A carry that the body returns as it came is an invariant of both, and its final value is its first.
    let fixed = fixed_carries(out.function(op.body), 0, op.carries);
    let carried: Vec<Value> =
        pick(&inst.results[..op.carries], &fixed, false).chain(inst.results[op.carries..].iter().copied()).collect();
    inst.results
        .iter()
        .zip(c0)
        .zip(&fixed)
        .filter(|(_, fixed)| **fixed)
        .for_each(|((result, c), _)| editor.bind(*result, *c));
    let [cond, body] = [op.cond, op.body].map(|body| settle_params(out, body, 0, &fixed, inv.len()));
    let body = drop_results(out, body, &fixed);
    let args = settled(&args, 0, &fixed, inv.len());
    let carries = fixed.iter().filter(|fixed| !**fixed).count();
    // Known invariants move into the bodies.
    let (args, bodies) = sink(out, editor, &args, carries..args.len(), &[(cond, 0), (body, 0)], &inst.pos);
    editor.replace(inst, Op::While(WhileOp { cond: bodies[0], body: bodies[1], carries }), args, &carried);
}

/// The literal that the one result of a function is.
fn literal_result(function: &Function) -> Option<&Array> {
    let inst = function.insts.iter().find(|inst| inst.results.contains(&function.results[0]))?;
    match &inst.op {
        Op::Def(def, attrs) if def.lowering == Lowering::Constant => Some(attrs.array("value")),
        Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

fn rewrite_unwind(out: &mut Program, editor: &mut Editor<'_>, inst: &Inst, op: &UnwindOp) {
    let args = editor.values(&inst.args);
    let UnwindArgs { count, carries: c0, invariants: inv, streams, adjoints, emitted, running } = op.args(&args);
    let streams = streams.len() + emitted.len() + inst.results.len() - op.adjoints - op.running;
    match editor.int(count) {
        // unwind 0, …, a, r0 = a, r0
        Some(..=0) if streams == 0 => return editor.bind_all(inst, &[adjoints, running].concat()),
        // unwind 1, c0, inv, a, r0 {body, bwd} = bwd(0, c0, inv, a, r0)
        Some(1) if streams == 0 && !out.probes()[usize::from(op.bwd)] => {
            let zero = editor.full(Array::int(0), &[], &inst.pos);
            let results = editor.inline(out.function(op.bwd), &[&[zero], c0, inv, adjoints, running].concat());
            return editor.bind_all(inst, &results);
        }
        Some(_) | None => {}
    }
    let through: Vec<Value> = [adjoints, running].concat();
    // A carry that the body returns as it came is an invariant of both.
    let fixed = fixed_carries(out.function(op.body), 1, op.carries);
    let bodies = [op.body, op.bwd].map(|body| settle_params(out, body, 1, &fixed, op.invariants));
    let body = drop_results(out, bodies[0], &fixed);
    let args = settled(&args, 1, &fixed, op.invariants);
    let carries = fixed.iter().filter(|fixed| !**fixed).count();
    let invariants = op.invariants + op.carries - carries;
    let before = args.len();
    let places = 1 + carries..1 + carries + invariants;
    let (args, bodies) = sink(out, editor, &args, places, &[(body, 0), (bodies[1], 0)], &inst.pos);
    let invariants = invariants + args.len() - before;
    let op = UnwindOp { body: bodies[0], bwd: bodies[1], carries, invariants, ..op.clone() };
    editor.replace(inst, Op::Unwind(op.clone()), args, &inst.results);
    // A cotangent that bwd returns as it came ends as it began.
    let bwd = out.function(op.bwd);
    let params = op.args(&bwd.params);
    let came: Vec<Value> = [params.adjoints, params.running].concat();
    for k in (0..came.len()).filter(|k| bwd.results[*k] == came[*k]) {
        editor.bind(inst.results[k], through[k]);
    }
}

/// Carries, the first of them at a place, that a body returns as they came.
fn fixed_carries(body: &Function, first: usize, carries: usize) -> Vec<bool> {
    (0..carries).map(|k| body.results[k] == body.params[first + k]).collect()
}

fn pick<'a>(list: &'a [Value], marks: &'a [bool], mark: bool) -> impl Iterator<Item = Value> + 'a {
    list.iter().zip(marks).filter(move |(_, found)| **found == mark).map(|(value, _)| *value)
}

/// A list with `carries ++ invariants` from the place `first` on, the marked carries moved to the end of the
/// invariants.
fn settled(list: &[Value], first: usize, fixed: &[bool], invariants: usize) -> Vec<Value> {
    let (carries, rest) = list[first..].split_at(fixed.len());
    let (invariants, rest) = rest.split_at(invariants);
    let (kept, moved) = (pick(carries, fixed, false), pick(carries, fixed, true));
    list[..first]
        .iter()
        .copied()
        .chain(kept)
        .chain(invariants.iter().copied())
        .chain(moved)
        .chain(rest.iter().copied())
        .collect()
}

/// A copy of a body with the marked carries as invariants.
fn settle_params(out: &mut Program, id: FuncId, first: usize, fixed: &[bool], invariants: usize) -> FuncId {
    change(out, id, fixed.contains(&true), |body| body.params = settled(&body.params, first, fixed, invariants))
}

fn drop_results(out: &mut Program, id: FuncId, fixed: &[bool]) -> FuncId {
    change(out, id, fixed.contains(&true), |body| {
        let (carries, ys) = body.results.split_at(fixed.len());
        body.results = pick(carries, fixed, false).chain(ys.iter().copied()).collect();
    })
}

/// A changed copy of a function where there is something to change: others may use it too.
fn change(out: &mut Program, id: FuncId, needed: bool, edit: impl FnOnce(&mut Function)) -> FuncId {
    if !needed {
        return id;
    }
    let mut function = out.function(id).clone();
    edit(&mut function);
    out.add(function)
}

/// What becomes of an argument that bodies only read.
#[derive(Clone)]
enum Fate {
    /// It stays.
    Stays,
    /// It is this number repeated, which the bodies can make themselves.
    Number(Array),
    /// It is the argument at another place.
    Same(usize),
}

/// Removes known and repeated arguments at `places`; a body's parameters correspond to the arguments from its offset
/// on. Returns the remaining arguments and the changed bodies.
fn sink(
    out: &mut Program,
    editor: &Editor<'_>,
    args: &[Value],
    places: std::ops::Range<usize>,
    bodies: &[(FuncId, usize)],
    pos: &Pos,
) -> (Vec<Value>, Vec<FuncId>) {
    let mut fates = vec![Fate::Stays; args.len()];
    let mut first = std::collections::BTreeMap::new();
    for place in places {
        fates[place] = match (editor.number(args[place]), *first.entry(args[place]).or_insert(place)) {
            (Some(number), _) => Fate::Number(number),
            (None, same) if same != place => Fate::Same(same),
            (None, _) => Fate::Stays,
        };
    }
    let stays: Vec<bool> = fates.iter().map(|fate| matches!(fate, Fate::Stays)).collect();
    let changed = stays.contains(&false);
    let sunk = |(body, offset): &(FuncId, usize)| {
        // A body may have fewer parameters than there are arguments: an unwind's body knows no cotangents.
        change(out, *body, changed, |body| receive(body, &fates[*offset..][..body.params.len()], *offset, pos))
    };
    let bodies = bodies.iter().map(sunk).collect();
    (pick(args, &stays, true).collect(), bodies)
}

/// Makes parameters known inside a function.
fn receive(body: &mut Function, fates: &[Fate], offset: usize, pos: &Pos) {
    let params = std::mem::take(&mut body.params);
    let mut instead: Vec<Value> =
        (0..body.types.len()).map(|v| Value(u32::try_from(v).expect("fewer than 2^32 values"))).collect();
    let mut insts = Vec::new();
    for (param, fate) in params.iter().zip(fates) {
        match fate {
            Fate::Stays => body.params.push(*param),
            Fate::Number(number) => define(body, &mut insts, *param, number, pos),
            Fate::Same(place) => instead[param.0 as usize] = params[place - offset],
        }
    }
    insts.append(&mut body.insts);
    let read = insts.iter_mut().flat_map(|inst| &mut inst.args).chain(&mut body.results);
    read.filter(|v| (v.0 as usize) < instead.len()).for_each(|v| *v = instead[v.0 as usize]);
    body.insts = insts;
}

/// Instructions that make a parameter: a literal, repeated where it has axes.
fn define(body: &mut Function, insts: &mut Vec<Inst>, param: Value, number: &Array, pos: &Pos) {
    let shape = body.ty(param).shape.clone();
    let mut push = |(row, attrs), args, result| {
        insts.push(Inst { op: Op::Def(row, attrs), args, results: vec![result], pos: pos.clone() })
    };
    if shape.is_empty() {
        return push(literal(number.clone()), vec![], param);
    }
    body.types.push(Type::scalar(number.dtype()));
    let scalar = Value(u32::try_from(body.types.len() - 1).expect("fewer than 2^32 values"));
    push(literal(number.clone()), vec![], scalar);
    push(repeat(&shape), vec![scalar], param);
}
