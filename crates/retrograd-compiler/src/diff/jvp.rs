//! Forward mode: one walk over a function that carries tangents along.
//!
//! A `select` leaves tangents out, too: of `sqrt(select(x > 0, x, 0))` the derivative at −1 is 0, though the slope of
//! the root at 0 is infinite. So the walk notes, along with every tangent, where it can be other than zero, and masks
//! partials as a reverse sweep does.

use super::active::{Through, at};
use super::control;
use super::demand::{Demand, Predicate};
use super::mask::any;
use super::transform::Transform;
use super::vjp::{gate, missing, scale};
use crate::ir::{Attrs, Builder, Error, FuncId, Function, Inst, Lowering, Op, OpDef, Partial, Rule, Value};
use crate::ops::SELECT;

/// Results of a function and their tangents.
#[derive(Debug)]
pub(super) struct Pushed {
    pub(super) results: Vec<Value>,
    pub(super) tangents: Vec<Option<Value>>,
}

impl Transform {
    /// Emits a function over these arguments together with the tangents of its marked results.
    pub(super) fn push(
        &mut self,
        b: &Builder,
        id: FuncId,
        args: &[Value],
        tangents: &[Option<Value>],
        wanted: &[bool],
    ) -> Result<Pushed, Error> {
        let function = self.program.function(id).clone();
        let useful = self.activity.reaching(&self.program, Through::Derivatives, id, wanted);
        let mut walk = Walk {
            b,
            values: b.map(&function, args),
            tangents: vec![None; function.types.len()],
            supports: vec![Demand::everywhere(); function.types.len()],
            useful,
        };
        for (param, tangent) in function.params.iter().zip(tangents) {
            walk.tangents[param.0 as usize] = tangent.filter(|_| walk.useful[param.0 as usize]);
        }
        for inst in &function.insts {
            self.forward(&mut walk, &function, inst)?;
        }
        Ok(Pushed { results: walk.values(&function.results), tangents: walk.tangents(&function.results) })
    }

    fn forward(&mut self, walk: &mut Walk<'_>, function: &Function, inst: &Inst) -> Result<(), Error> {
        let b = walk.b;
        let args: Vec<bool> = walk.tangents(&inst.args).iter().map(Option::is_some).collect();
        let active = self.activity.varied_results(&self.program, inst, &args);
        let active = super::mask::and(&active, &walk.useful(&inst.results));
        if !any(&active) {
            walk.values_are(&inst.results, &b.copy(function, inst, walk.values(&inst.args)));
            return Ok(());
        }
        b.set_pos(&inst.pos);
        match &inst.op {
            Op::Def(def, attrs) => {
                let y = b.copy(function, inst, walk.values(&inst.args))[0];
                walk.values_are(&inst.results, &[y]);
                let tangent = forward_row(walk, inst, def, attrs, y)?;
                walk.tangents_are(&inst.results, &[tangent]);
                walk.supports[inst.results[0].0 as usize] = support(walk, inst, def, attrs, y);
                Ok(())
            }
            Op::If(op) => control::branch::forward(self, walk, inst, op, &active),
            Op::For(op) => control::counted::forward(self, walk, inst, op, &active),
            Op::While(op) => control::conditional::forward(self, walk, inst, op, &active),
            Op::Unwind(op) => control::unwind::forward(self, walk, inst, op, &active),
            Op::Call(op) => control::custom::forward(self, walk, function, inst, op, &active),
        }
    }
}

/// The state of a forward walk over one function.
#[derive(Debug)]
pub(super) struct Walk<'b> {
    pub(super) b: &'b Builder,
    values: Vec<Option<Value>>,
    tangents: Vec<Option<Value>>,
    /// Where each tangent can be other than zero.
    supports: Vec<Demand>,
    useful: Vec<bool>,
}

impl Walk<'_> {
    pub(super) fn values(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|v| self.values[v.0 as usize].expect("SSA: defined before use")).collect()
    }

    pub(super) fn tangents(&self, values: &[Value]) -> Vec<Option<Value>> {
        values.iter().map(|v| self.tangents[v.0 as usize]).collect()
    }

    pub(super) fn useful(&self, values: &[Value]) -> Vec<bool> {
        at(&self.useful, values)
    }

    pub(super) fn values_are(&mut self, values: &[Value], new: &[Value]) {
        for (value, new) in values.iter().zip(new) {
            self.values[value.0 as usize] = Some(*new);
        }
    }

    pub(super) fn tangents_are(&mut self, values: &[Value], new: &[Option<Value>]) {
        for (value, new) in values.iter().zip(new) {
            self.tangents[value.0 as usize] = *new;
        }
    }
}

/// dy = Σ_k ∂_k dx_k over the arguments that have a tangent.
fn forward_row(
    walk: &Walk<'_>,
    inst: &Inst,
    def: &'static OpDef,
    attrs: &Attrs,
    y: Value,
) -> Result<Option<Value>, Error> {
    let b = walk.b;
    // A tangent is not what the user wrote.
    let attrs = &attrs.free();
    let (args, tangents) = (walk.values(&inst.args), walk.tangents(&inst.args));
    let terms: Vec<Option<Value>> = match def.rule {
        Rule::Zero => vec![],
        Rule::Partials(partials) => {
            // Where a factor is infinite or NaN, so is the product, and there is no derivative.
            let within = |k: usize| match partials[k] {
                Partial::Of(_) => walk.supports[inst.args[k].0 as usize].predicate(b, &b.ty(y)),
                Partial::Zero | Partial::One | Partial::MinusOne | Partial::Factor(_) | Partial::Gate(_) => None,
            };
            let term = |k: usize| tangents[k].and_then(|dx| scale(b, partials[k], &args, y, dx, within(k)));
            (0..args.len()).map(term).collect()
        }
        Rule::Linear(transposes) => {
            // The same op on the tangents; what it is not linear in stays.
            let linear = |k: usize| transposes.get(k).is_some_and(Option::is_some);
            let operand =
                |k: usize| if linear(k) { tangents[k].unwrap_or_else(|| b.zeros(&b.ty(args[k]))) } else { args[k] };
            vec![Some(b.op(def, attrs.clone(), &(0..args.len()).map(operand).collect::<Vec<_>>()))]
        }
        Rule::LinearInEach(_) => {
            let operands: Vec<Value> =
                (0..args.len()).map(|k| tangents[k].unwrap_or_else(|| b.zeros(&b.ty(args[k])))).collect();
            vec![Some(b.op(def, attrs.clone(), &operands))]
        }
        Rule::Tangent { tangent, .. } => vec![Some(tangent(b, attrs, &args, y, &tangents))],
        Rule::Bilinear(_) => {
            let left = tangents[0].map(|dx| b.op(def, attrs.clone(), &[dx, args[1]]));
            let right = tangents[1].map(|dx| b.op(def, attrs.clone(), &[args[0], dx]));
            vec![left, right]
        }
        Rule::Missing => return Err(missing(def, inst)),
    };
    Ok(terms.into_iter().flatten().reduce(|sum, term| b.add(sum, term)))
}

/// Where the tangent of a row can be other than zero.
fn support(walk: &Walk<'_>, inst: &Inst, def: &'static OpDef, attrs: &Attrs, y: Value) -> Demand {
    let (b, ty) = (walk.b, walk.b.ty(y));
    let (args, tangents) = (walk.values(&inst.args), walk.tangents(&inst.args));
    let of = |k: usize| &walk.supports[inst.args[k].0 as usize];
    let from = |k: usize| match def.rule {
        _ if *def == SELECT => of(k).and(Predicate::new(b, args[0]), k == 1),
        Rule::Partials(partials) => match partials[k] {
            Partial::Zero => Demand::default(),
            Partial::Gate(weight) => of(k).and(Predicate::new(b, gate(b, weight, &args, y).1), true),
            Partial::One | Partial::MinusOne | Partial::Factor(_) | Partial::Of(_) => of(k).clone(),
        },
        _ if def.lowering.is_elementwise() => of(k).clone(),
        _ if matches!(def.lowering, Lowering::View(_)) && args.len() == 1 => {
            let viewed = |p: Predicate| match p {
                Predicate::Whole(_) => p,
                Predicate::Each(truths) => Predicate::new(b, b.op(def, attrs.clone(), &[truths])),
            };
            of(k).lifted(|p, holds| Some((viewed(p), holds))).unwrap_or_else(Demand::everywhere)
        }
        Rule::Zero
        | Rule::Linear(_)
        | Rule::LinearInEach(_)
        | Rule::Bilinear(_)
        | Rule::Tangent { .. }
        | Rule::Missing => Demand::everywhere(),
    };
    let mut support = Demand::default();
    (0..args.len()).filter(|k| tangents[*k].is_some()).for_each(|k| support.add(b, &ty, from(k)));
    support
}
