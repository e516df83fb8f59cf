//! `call args {body}` with a custom rule. Calls without one have become their bodies before.

use super::pick_or_zeros;
use crate::diff::active::floats;
use crate::diff::jvp::Walk;
use crate::diff::mask::{and, pick, spread};
use crate::diff::transform::Transform;
use crate::diff::vjp::Sweep;
use crate::ir::{CallOp, CustomRule, Error, ErrorKind, FuncId, Function, Inst, Value, linear_in};

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
            let message =
                format!("`{name}` has a custom_vjp, which forward mode cannot use; give it a custom_jvp, which serves both modes");
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
    let cts = sweep.cotangents_of(&inst.results);
    let (of_args, of_results) = (floats(function, &inst.args), floats(function, &inst.results));
    let cts: Vec<Option<Value>> = match op.rule.as_ref().expect("calls without a rule have become their bodies") {
        CustomRule::Vjp { forward, backward } => {
            t.custom_backward = true;
            // The values stay those of the call, so that a derivative never changes them; what forward computes of them is dead.
            let forward = t.silent(*forward);
            let residuals = b.inline(t.program.function(forward), &args).split_off(inst.results.len());
            let cts = pick_or_zeros(b, &cts, &of_results, &sweep.values(&inst.results));
            b.inline(t.program.function(*backward), &[residuals, cts].concat()).into_iter().map(Some).collect()
        }
        CustomRule::Jvp { tangent } => {
            check_linear(t, inst, *tangent, args.len())?;
            let varied = and(&sweep.varied(&inst.args), &of_args);
            // The transpose of a linear function does not read what it is linear in, so these zeros are dead.
            let unread: Vec<Value> = pick(&args, &of_args).iter().map(|arg| b.zeros(&b.ty(*arg))).collect();
            let varied = [vec![false; args.len()], pick(&varied, &of_args)].concat();
            let params = [&args[..], &unread].concat();
            let demands = inst.results.iter().map(|v| sweep.demand(*v));
            let cts: Vec<_> = cts.into_iter().zip(demands).map(|(ct, demand)| ct.map(|ct| (ct, demand))).collect();
            let id = t.silent(*tangent);
            let copied = t.run(b, &t.program.function(id).clone(), &params)?;
            let pulled = t.sweep_back(b, id, copied, &varied, &pick(&cts, &of_results), &vec![None; params.len()])?;
            pulled.cotangents.into_iter().skip(args.len()).collect()
        }
    };
    for (arg, ct) in pick(&inst.args, &of_args).iter().zip(cts) {
        if let Some(ct) = ct {
            sweep.add_where(*arg, ct, sweep.demand_through(&inst.results, *arg));
        }
    }
    Ok(())
}

fn check_linear(t: &Transform, inst: &Inst, tangent: FuncId, args: usize) -> Result<(), Error> {
    let function = t.program.function(tangent);
    let seeds: Vec<bool> = (0..function.params.len()).map(|k| k >= args).collect();
    let nonlinear = |error: Error| {
        let message = format!("the tangent function of a custom_jvp must be linear in the tangents to be transposed: {}", error.message);
        Error::new(ErrorKind::Argument, error.pos, message).at(&inst.pos)
    };
    linear_in(&t.program, tangent, &seeds).map_err(nonlinear).map(drop)
}
