//! Reverse mode: one walk backwards over a function, instruction by instruction.

use super::active::at;
use super::control;
use super::demand::{Demand, Facts, Predicate};
use super::once::Copied;
use super::sum::{self, Sum};
use super::transform::Transform;
use crate::ir::{
    Array, Attrs, Builder, Contribution, Error, ErrorKind, Expr, FuncId, Function, Inst, Op, OpDef, Part, Partial,
    PartialOf, Rule, Tangent, Transpose, Value,
};
use crate::ops::{LINEAR_SCAN, NE, OR, SELECT};

/// Results of a function, the cotangents of its parameters, and where the sweep can have added to these.
#[derive(Debug)]
pub(super) struct Pulled {
    pub(super) results: Vec<Value>,
    pub(super) cotangents: Vec<Option<Value>>,
    pub(super) demands: Vec<Demand>,
}

/// A cotangent, and where it can be other than zero.
pub(super) type Demanded = Option<(Value, Demand)>;

impl Transform {
    /// Emits a function over these arguments, which has run before, and then its reverse sweep: see
    /// [`Transform::pull_first`].
    pub(super) fn pull(
        &mut self,
        b: &Builder,
        id: FuncId,
        args: &[Value],
        varied: &[bool],
        cts: &[Demanded],
        starts: &[Option<Value>],
    ) -> Result<Pulled, Error> {
        let id = self.silent(id);
        self.pull_first(b, id, args, varied, cts, starts)
    }

    /// Emits a function over these arguments and then its reverse sweep. `varied` marks the parameters whose cotangents
    /// are asked for, `cts` has one cotangent per result, and `starts` what the cotangents of the parameters are
    /// before the sweep adds to them.
    pub(super) fn pull_first(
        &mut self,
        b: &Builder,
        id: FuncId,
        args: &[Value],
        varied: &[bool],
        cts: &[Demanded],
        starts: &[Option<Value>],
    ) -> Result<Pulled, Error> {
        let copied = self.run(b, &self.program.function(id).clone(), args)?;
        self.sweep_back(b, id, copied, varied, cts, starts)
    }

    /// The reverse sweep over a function whose instructions were emitted, from cotangents and where they can be other
    /// than zero.
    pub(super) fn sweep_back(
        &mut self,
        b: &Builder,
        id: FuncId,
        copied: Copied,
        varied: &[bool],
        cts: &[Demanded],
        starts: &[Option<Value>],
    ) -> Result<Pulled, Error> {
        let function = self.program.function(id).clone();
        let varied = self.activity.varied(&self.program, id, varied);
        let count = function.types.len();
        let (cotangents, demands) = (vec![Sum::default(); count], vec![Demand::default(); count]);
        let mut sweep = Sweep { b, copied, varied, cotangents, demands, facts: Facts::new(&function) };
        let cotangents = b.within(Part::Backward, || {
            for (value, ct) in function.params.iter().zip(starts) {
                ct.iter().for_each(|ct| sweep.add_where(*value, *ct, Demand::default()));
            }
            for (value, ct) in function.results.iter().zip(cts) {
                ct.iter().for_each(|(ct, demand)| sweep.add_where(*value, *ct, demand.clone()));
            }
            function.insts.iter().rev().try_for_each(|inst| self.reverse(&mut sweep, &function, inst))?;
            Ok(sweep.cotangents_of(&function.params))
        })?;
        let demands = function.params.iter().map(|param| sweep.demand(*param)).collect();
        Ok(Pulled { results: sweep.values(&function.results), cotangents, demands })
    }

    fn reverse(&mut self, sweep: &mut Sweep<'_>, function: &Function, inst: &Inst) -> Result<(), Error> {
        if sweep.cotangents_of(&inst.results).iter().all(Option::is_none) {
            return Ok(());
        }
        sweep.b.set_pos(&inst.pos);
        match &inst.op {
            Op::Def(def, attrs) => self.reverse_row(sweep, inst, def, attrs),
            Op::If(op) => control::branch::reverse(self, sweep, inst, op),
            Op::For(op) => control::counted::reverse(self, sweep, function, inst, op),
            Op::While(op) => control::conditional::reverse(self, sweep, function, inst, op),
            Op::Unwind(op) => control::unwind::reverse(self, sweep, function, inst, op),
            Op::Call(op) => control::custom::reverse(self, sweep, function, inst, op),
        }
    }
}

/// The state of a reverse sweep over one function. Absent cotangents are `None`; zeros are made only where something
/// needs an array.
#[derive(Debug)]
pub(super) struct Sweep<'b> {
    pub(super) b: &'b Builder,
    copied: Copied,
    varied: Vec<bool>,
    cotangents: Vec<Sum>,
    /// Where they can be other than zero.
    demands: Vec<Demand>,
    facts: Facts,
}

impl Sweep<'_> {
    /// The emitted value of a value of the function.
    pub(super) fn value(&self, value: Value) -> Value {
        self.copied.values[value.0 as usize].expect("SSA: defined before use")
    }

    pub(super) fn values(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|v| self.value(*v)).collect()
    }

    /// What the branches of an `if` give out.
    pub(super) fn given(&self, inst: &Inst) -> Vec<Value> {
        self.copied.given_with(inst)
    }

    pub(super) fn varied(&self, values: &[Value]) -> Vec<bool> {
        at(&self.varied, values)
    }

    /// The cotangents that values have so far.
    pub(super) fn cotangents_of(&mut self, values: &[Value]) -> Vec<Option<Value>> {
        values.iter().map(|v| self.cotangent(*v)).collect()
    }

    fn cotangent(&mut self, value: Value) -> Option<Value> {
        let ty = self.b.ty(self.value(value));
        self.cotangents[value.0 as usize].settled(self.b, &ty)
    }

    /// Removes the cotangent that a value has so far, to be continued by a construct that gives the sum back through
    /// [`Sweep::add`]. A value that is taken twice has nothing the second time, so that nothing counts twice.
    pub(super) fn take(&mut self, value: Value) -> Option<Value> {
        let so_far = self.cotangent(value);
        self.cotangents[value.0 as usize] = Sum::default();
        so_far
    }

    /// Adds to the cotangent of a value, if the value is varied, what can be other than zero there alone.
    pub(super) fn add_where(&mut self, value: Value, ct: Value, demand: Demand) {
        self.contribute(value, Contribution::Dense(ct), demand);
    }

    fn contribute(&mut self, value: Value, contribution: Contribution, demand: Demand) {
        if self.varied[value.0 as usize] {
            let ty = self.b.ty(self.value(value));
            self.cotangents[value.0 as usize].add(self.b, &ty, contribution);
            self.demands[value.0 as usize].add(self.b, &ty, demand);
        }
    }

    /// Where a value is demanded.
    pub(super) fn demand(&self, value: Value) -> Demand {
        self.demands[value.0 as usize].clone()
    }

    /// The cotangents that values have so far, and where they can be other than zero.
    pub(super) fn demanded(&mut self, values: &[Value]) -> Vec<Demanded> {
        let cts = self.cotangents_of(values);
        values.iter().zip(cts).map(|(value, ct)| ct.map(|ct| (ct, self.demand(*value)))).collect()
    }

    /// Whether any element of any of these is demanded; none where all of one are.
    pub(super) fn any_demanded(&self, values: &[Value]) -> Option<Value> {
        let demanded = values.iter().filter(|value| !self.demand(**value).is_nowhere());
        let each: Option<Vec<Value>> =
            demanded.map(|value| self.demand(*value).any(self.b, &self.b.ty(self.value(*value)))).collect();
        let nothing = || self.b.constant(Array::bool(false));
        each.map(|each| each.into_iter().reduce(|p, q| self.b.op(&OR, Attrs::none(), &[p, q])).unwrap_or_else(nothing))
    }

    /// Whether a partial of an argument is finite for sure: it is that of a product with literals.
    fn is_tame(&self, partial: Partial, args: &[Value], k: usize) -> bool {
        match partial {
            Partial::Zero | Partial::One | Partial::MinusOne | Partial::Gate(_) => true,
            Partial::Factor(_) => {
                (0..args.len()).filter(|other| *other != k).all(|other| self.facts.is_tame(args[other]))
            }
            Partial::Of(_) => false,
        }
    }

    /// Zeros like a value of the function.
    pub(super) fn zeros(&self, value: Value) -> Value {
        self.b.zeros(&self.b.ty(self.value(value)))
    }
}

impl Transform {
    /// ct_k += ∂_kᵀ ct for every varied argument, in the order of the arguments.
    fn reverse_row(
        &mut self,
        sweep: &mut Sweep<'_>,
        inst: &Inst,
        def: &'static OpDef,
        attrs: &Attrs,
    ) -> Result<(), Error> {
        let b = sweep.b;
        let (args, y) = (sweep.values(&inst.args), sweep.value(inst.results[0]));
        let Some(ct) = sweep.cotangents_of(&inst.results)[0] else { return Ok(()) };
        let demand = sweep.demand(inst.results[0]);
        let ty = b.ty(y);
        let varied = sweep.varied(&inst.args);
        let wanted = (0..args.len()).filter(|k| varied[*k]);
        for k in wanted {
            let through = || match *def == SELECT {
                true => demand.and(Predicate::new(b, args[0]), k == 1).refined(b),
                false => demand.through(b, (def, attrs), &args, k, &ty),
            };
            let (contribution, through) = match def.rule {
                Rule::Zero => continue,
                Rule::Partials(partials) => {
                    let everywhere = || sweep.is_tame(partials[k], &inst.args, k);
                    let within = if everywhere() { None } else { demand.predicate(b, &ty) };
                    (scale(b, partials[k], &args, y, ct, within).map(Contribution::Dense), through())
                }
                Rule::Linear(transposes) => {
                    (transposes.get(k).copied().flatten().map(|transpose| transpose(b, attrs, &args, ct)), through())
                }
                Rule::LinearInEach(transpose) => (Some(transpose(b, attrs, &args, k, ct)), through()),
                Rule::Bilinear(transposes) => {
                    (Some(transposes[k](b, attrs, &demand.operands(b, (def, attrs), &args, &ty), ct)), through())
                }
                Rule::Tangent { tangent, linear } => match linear.get(k).copied().flatten() {
                    Some(transpose) => {
                        let through = through();
                        (Some(transpose_masked(b, (def, attrs), transpose, &args, ct, (k, &through))), through)
                    }
                    None => {
                        let (ct, through) =
                            self.transpose_tangent(b, tangent, attrs, &args, y, k, (ct, demand.clone()))?;
                        (Some(Contribution::Dense(ct)), through)
                    }
                },
                Rule::Missing => return Err(missing(def, inst)),
            };
            if let Some(contribution) = contribution {
                sweep.contribute(inst.args[k], contribution, through);
            }
        }
        Ok(())
    }

    /// The transpose of dx_k ↦ dy. As dy is linear in dx_k, that is its own reverse sweep, at any dx_k: zeros, which
    /// nothing then reads.
    #[allow(clippy::too_many_arguments, reason = "a rule and all that it is applied to")]
    fn transpose_tangent(
        &mut self,
        b: &Builder,
        tangent: Tangent,
        attrs: &Attrs,
        args: &[Value],
        y: Value,
        k: usize,
        ct: (Value, Demand),
    ) -> Result<(Value, Demand), Error> {
        let body = Builder::new("tangent");
        body.set_pos(&b.pos());
        let (params, result, dx) = (body.params(b.types(args)), body.param(b.ty(y)), body.param(b.ty(args[k])));
        let tangents: Vec<Option<Value>> = (0..args.len()).map(|other| (other == k).then_some(dx)).collect();
        let dy = tangent(&body, attrs, &params, result, &tangents);
        let id = self.program.add(without_checks_of(body.finish(vec![dy]), dx));
        let zeros = b.zeros(&b.ty(args[k]));
        let varied: Vec<bool> = (0..args.len() + 2).map(|param| param > args.len()).collect();
        let copied = self.run(b, &self.program.function(id).clone(), &[args, &[y, zeros]].concat())?;
        let pulled = self.sweep_back(b, id, copied, &varied, &[Some(ct)], &vec![None; args.len() + 2])?;
        Ok((pulled.cotangents[args.len() + 1].unwrap_or(zeros), pulled.demands[args.len() + 1].clone()))
    }
}

/// The function without what it checks of a tangent, which is not there in reverse mode.
fn without_checks_of(mut function: Function, dx: Value) -> Function {
    let mut depends = vec![false; function.types.len()];
    depends[dx.0 as usize] = true;
    function.insts.retain(|inst| {
        let moves = inst.args.iter().any(|v| depends[v.0 as usize]);
        inst.results.iter().for_each(|v| depends[v.0 as usize] = moves);
        !(moves && inst.has_effect(|_| false))
    });
    function
}

/// The transpose of a row in an argument that it is linear in, with coefficients that need not be numbers where nothing
/// is demanded: what such a row gives is taken within the demand of that argument only. A scan goes on from element to
/// element, so its factors are too.
fn transpose_masked(
    b: &Builder,
    (row, attrs): (&'static OpDef, &Attrs),
    transpose: Transpose,
    args: &[Value],
    ct: Value,
    (k, demand): (usize, &Demand),
) -> Contribution {
    if demand.is_everywhere() {
        return transpose(b, attrs, args, ct);
    }
    let mut args = args.to_vec();
    if *row == LINEAR_SCAN {
        args[0] = demand.kept(b, args[0]);
    }
    let ct = sum::array(b, &b.ty(args[k]), &transpose(b, attrs, &args, ct));
    Contribution::Dense(demand.kept(b, ct))
}

/// Cotangents that can be other than zero everywhere.
pub(super) fn demanded(cts: &[Option<Value>]) -> Vec<Demanded> {
    cts.iter().map(|ct| ct.map(|ct| (ct, Demand::everywhere()))).collect()
}

/// ∂·d for a tangent or a cotangent d, which is zero outside of `within`; `None` where ∂ = 0.
pub(super) fn scale(
    b: &Builder,
    partial: Partial,
    args: &[Value],
    y: Value,
    d: Value,
    within: Option<Value>,
) -> Option<Value> {
    match partial {
        Partial::Zero => None,
        Partial::One => Some(d),
        Partial::MinusOne => Some(b.neg(d)),
        Partial::Factor(factor) | Partial::Of(factor) => {
            let partial = applied(b, factor, args, y);
            let kept = |p: Value| b.op(&SELECT, Attrs::none(), &[p, partial, b.zeros(&b.ty(partial))]);
            Some(b.mul(within.map_or(partial, kept), d))
        }
        // sqrt(max(x, 0)) is 0 around x = -1: that the root has an infinite slope at 0 does not matter there.
        Partial::Gate(weight) => {
            let (weight, passes) = gate(b, weight, args, y);
            Some(b.op(&SELECT, Attrs::none(), &[passes, b.mul(weight, d), b.zeros(&b.ty(d))]))
        }
    }
}

/// The weight of an argument that may have no influence, and where it has.
pub(super) fn gate(b: &Builder, weight: PartialOf, args: &[Value], y: Value) -> (Value, Value) {
    let weight = applied(b, weight, args, y);
    (weight, b.op(&NE, Attrs::none(), &[weight, b.zeros(&b.ty(weight))]))
}

fn applied(b: &Builder, partial: PartialOf, args: &[Value], y: Value) -> Value {
    let args: Vec<Expr<'_>> = args.iter().map(|arg| Expr::new(b, *arg)).collect();
    partial(&args, Expr::new(b, y)).value
}

/// A missing rule is an error, never a zero.
pub(super) fn missing(def: &OpDef, inst: &Inst) -> Error {
    let message =
        format!("`{}` has no derivative rule; give it one, or keep it away from what is differentiated", def.name);
    Error::new(ErrorKind::MissingRule, inst.pos.clone(), message)
}
