//! `call args {body}` with a custom rule. Calls without one have become their bodies before.

use super::pick_or_zeros;
use crate::diff::active::floats;
use crate::diff::demand::{Demand, Predicate};
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, pick, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::{Demanded, Sweep, demanded};
use crate::ir::{
    Builder, CallOp, CustomRule, Error, ErrorKind, FuncId, Function, Inst, Op, Program, Type, Value, linear_in,
};
use crate::ops::{BROADCAST, CONSTANT};

/// The call as it is, then `tangent(args, dargs)`.
pub(in crate::diff) fn forward(
    t: &mut Transform,
    walk: &mut Walk<'_>,
    function: &Function,
    inst: &Inst,
    op: &CallOp,
    active: &[bool],
) -> Result<(), Error> {
    let name = &t.program.function(op.body).name;
    let tangent = match op.rule.as_ref().expect("calls without a rule have become their bodies") {
        CustomRule::Jvp { tangent } => *tangent,
        CustomRule::Vjp { .. } => {
            let message = format!(
                "`{name}` has a custom_vjp, which forward mode cannot use; give it a custom_jvp, which serves both \
                 modes"
            );
            return Err(Error::new(ErrorKind::Unsupported, inst.pos.clone(), message));
        }
    };
    let b = walk.b;
    let args = walk.values(&inst.args);
    walk.values_are(&inst.results, &b.copy(function, inst, args.clone()));
    let tangents = pick_or_zeros(b, &walk.tangents(&inst.args), &floats(function, &inst.args), &args);
    let results = b.inline(t.program.function(tangent), &[args, tangents].concat());
    let results = spread(&results, &floats(function, &inst.results));
    let wanted: Vec<Option<Value>> = results.into_iter().zip(active).map(|(d, active)| d.filter(|_| *active)).collect();
    walk.tangents_are(&inst.results, &wanted);
    Ok(())
}

/// `backward(residuals, cts)` with the residuals of `forward(args)`, or the transpose of `tangent`.
pub(in crate::diff) fn reverse(
    t: &mut Transform,
    sweep: &mut Sweep<'_>,
    function: &Function,
    inst: &Inst,
    op: &CallOp,
) -> Result<(), Error> {
    let b = sweep.b;
    let args = sweep.values(&inst.args);
    let of_args = floats(function, &inst.args);
    let cts: Vec<Demanded> = match op.rule.as_ref().expect("calls without a rule have become their bodies") {
        CustomRule::Vjp { forward, backward } => {
            t.custom_backward = true;
            // The values stay those of the call, so that a derivative never changes them; what forward computes of them
            // is dead.
            let forward = t.silent(*forward);
            let residuals = b.inline(t.program.function(forward), &args).split_off(inst.results.len());
            run_backward(t, sweep, function, inst, (op, *backward), residuals)?
        }
        CustomRule::Jvp { tangent } => {
            check_linear(t, inst, *tangent, args.len())?;
            let varied = and(&sweep.varied(&inst.args), &of_args);
            let cts = pick(&sweep.demanded(&inst.results), &floats(function, &inst.results));
            let types = b.types(&pick(&args, &of_args));
            transpose(t, b, *tangent, &args, &types, &pick(&varied, &of_args), &cts)?
        }
    };
    for (arg, ct) in pick(&inst.args, &of_args).iter().zip(cts) {
        if let Some((ct, demand)) = ct {
            sweep.add_where(*arg, ct, demand);
        }
    }
    Ok(())
}

/// The transpose of a function that is linear in its last arguments, of these types: it does not read what it is linear
/// in, so zeros stand for them.
fn transpose(
    t: &mut Transform,
    b: &Builder,
    id: FuncId,
    fixed: &[Value],
    types: &[Type],
    varied: &[bool],
    cts: &[Demanded],
) -> Result<Vec<Demanded>, Error> {
    let unread: Vec<Value> = types.iter().map(|ty| b.zeros(ty)).collect();
    let params = [fixed, &unread].concat();
    let varied = [&vec![false; fixed.len()], varied].concat();
    let pulled = t.pull(b, id, &params, &varied, cts, &vec![None; params.len()])?;
    let cts = pulled.cotangents.into_iter().zip(pulled.demands).skip(fixed.len());
    Ok(cts.map(|(ct, demand)| Some((ct?, demand))).collect())
}

/// The cotangents of the float arguments of a call with a custom backward function. Where not all of its results are
/// demanded:
///
/// - what is linear in the cotangents is the transpose of its transpose, and that takes its factors where they are
///   demanded;
/// - of what is not (it clips, say), an element counts where the result at its place does, if the function works
///   element by element, and else if any result does.
fn run_backward(
    t: &mut Transform,
    sweep: &mut Sweep<'_>,
    function: &Function,
    inst: &Inst,
    (op, backward): (&CallOp, FuncId),
    residuals: Vec<Value>,
) -> Result<Vec<Demanded>, Error> {
    let b = sweep.b;
    let of_results = floats(function, &inst.results);
    let cts = sweep.demanded(&inst.results);
    let everywhere = cts.iter().flatten().any(|(_, demand)| demand.is_everywhere());
    let partly = cts.iter().flatten().any(|(_, demand)| !demand.is_everywhere());
    // What shows or checks something in the backward function does so once.
    if partly && !has_effects(&t.program, backward) && !t.is_custom(op) {
        let step = t.build("vjp_transpose", &[backward], &[&vec![false; residuals.len()]], |t| {
            let function = t.program.function(backward).clone();
            let b = Builder::new(format!("{}_transpose", function.name));
            let types = function.param_types();
            let (fixed, cts) = types.split_at(residuals.len());
            let fixed = b.params(fixed.to_vec());
            let w: Vec<Option<Value>> = b.params(function.result_types()).into_iter().map(Some).collect();
            let found = transpose(t, &b, backward, &fixed, cts, &vec![true; cts.len()], &demanded(&w))?;
            let found =
                found.into_iter().zip(cts).map(|(ct, ty)| ct.map_or_else(|| b.zeros(ty), |(ct, _)| ct)).collect();
            Ok(b.finish(found))
        })?;
        let types = t.program.function(backward).result_types();
        return transpose(t, b, step, &residuals, &types, &vec![true; types.len()], &pick(&cts, &of_results));
    }
    let plain: Vec<Option<Value>> = cts.iter().map(|ct| ct.as_ref().map(|(ct, _)| *ct)).collect();
    let plain = pick_or_zeros(b, &plain, &of_results, &sweep.values(&inst.results));
    let types = b.types(&plain);
    let found = b.inline(t.program.function(backward), &[residuals, plain].concat());
    let one = |ct: Value| {
        let demand = match sweep.any_demanded(&inst.results) {
            _ if everywhere => Demand::everywhere(),
            None => Demand::everywhere(),
            Some(_)
                if types.iter().all(|ty| ty.shape == b.ty(ct).shape)
                    && is_elementwise(t.program.function(backward)) =>
            {
                let mut demand = Demand::default();
                cts.iter().flatten().for_each(|(_, more)| demand.add(b, &b.ty(ct), more.clone()));
                demand
            }
            Some(anything) => Demand::of(Predicate::Whole(anything)),
        };
        Some((demand.kept(b, ct), demand))
    };
    Ok(found.into_iter().map(one).collect())
}

/// Whether a run of the function has an effect.
pub(super) fn has_effects(program: &Program, id: FuncId) -> bool {
    program.function(id).insts.iter().any(|inst| inst.has_effect(|body| has_effects(program, body)))
}

/// Whether every element of a result is made of the elements at its place, and of numbers that are the same for all.
fn is_elementwise(function: &Function) -> bool {
    let is = |inst: &Inst| match &inst.op {
        Op::Def(def, _) => {
            let alike = || inst.args.iter().all(|arg| function.ty(*arg).shape == function.ty(inst.results[0]).shape);
            **def == CONSTANT
                || (**def == BROADCAST && function.ty(inst.args[0]).rank() == 0)
                || (def.lowering.is_elementwise() && alike())
        }
        Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => false,
    };
    function.insts.iter().all(is)
}

fn check_linear(t: &Transform, inst: &Inst, tangent: FuncId, args: usize) -> Result<(), Error> {
    let function = t.program.function(tangent);
    let seeds: Vec<bool> = (0..function.params.len()).map(|k| k >= args).collect();
    let nonlinear = |error: Error| {
        let message = format!(
            "the tangent function of a custom_jvp must be linear in the tangents to be transposed: {}",
            error.message
        );
        Error::new(ErrorKind::Argument, error.pos, message).at(&inst.pos)
    };
    linear_in(&t.program, tangent, &seeds).map_err(nonlinear).map(drop)
}
