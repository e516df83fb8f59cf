//! How often loops run where costs are compared: by the integers that are known at a step of the loops around them.

use std::iter;
use std::rc::Rc;

use crate::ir::{Array, Attrs, Data, Function, Inst, Lowering, Op, OpDef, Program, Type, Value};

/// Integers and truth values of a function that are known: literals, indices of the loops around, and what follows from
/// them.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Integers(Rc<[Option<Array>]>);

impl Integers {
    /// Of a function of which nothing is known but its code.
    pub(in crate::plan) fn of(function: &Function) -> Integers {
        Integers::given(function, vec![])
    }

    /// Of a function whose first parameters are these.
    fn given(function: &Function, params: Vec<Option<Array>>) -> Integers {
        let mut known = vec![None; function.types.len()];
        function.params.iter().zip(params).for_each(|(param, value)| known[param.0 as usize] = value);
        for inst in &function.insts {
            if let (Op::Def(def, attrs), [result]) = (&inst.op, &inst.results[..]) {
                known[result.0 as usize] = evaluated(def, attrs, function.ty(*result), inst, &known);
            }
        }
        Integers(known.into())
    }

    /// Of the body of a loop at one of its steps, or of another body that an instruction runs.
    pub(in crate::plan) fn inside(&self, inst: &Inst, body: &Function, step: u64) -> Integers {
        Integers::given(body, given(inst, |arg| self.get(arg), number(step)))
    }

    /// Of a step of a loop, which has so many carries and these invariants.
    pub(in crate::plan) fn step(&self, step: &Function, index: u64, carries: usize, invariants: &[Value]) -> Integers {
        Integers::given(step, given_to_step(number(index), carries, invariants, |arg| self.get(arg)))
    }

    fn get(&self, value: Value) -> Option<Array> {
        self.0[value.0 as usize].clone()
    }

    /// Steps of a loop, or what they are taken to be: one of unknown length over arrays goes through them, and through
    /// half of them as often as not.
    pub(in crate::plan) fn steps(&self, function: &Function, inst: &Inst) -> u64 {
        let longest = || {
            inst.args
                .iter()
                .flat_map(|v| &function.ty(*v).shape)
                .max()
                .map_or(UNKNOWN_STEPS, |extent| (*extent as u64).div_ceil(2))
        };
        self.get(inst.args[0]).map_or_else(longest, |count| count.as_i64()[0].max(0) as u64)
    }
}

/// What a row gives, if it is a number that tells how often something runs and its arguments are known.
fn evaluated(def: &OpDef, attrs: &Attrs, ty: &Type, inst: &Inst, known: &[Option<Array>]) -> Option<Array> {
    let counts =
        ty.rank() == 0 && !ty.dtype.is_float() && matches!(def.lowering, Lowering::Map(_) | Lowering::Constant);
    let args =
        inst.args.iter().filter(|_| counts).map(|arg| known[arg.0 as usize].as_ref()).collect::<Option<Vec<_>>>();
    args.filter(|_| counts).and_then(|args| (def.eval)(def, &args, attrs, ty).ok())
}

fn number(index: u64) -> Option<Array> {
    i64::try_from(index).ok().map(|index| Array::new([], Data::I64(vec![index])))
}

/// The step in the middle of so many.
pub(in crate::plan) fn middle(count: u64) -> u64 {
    (count.max(1) - 1) / 2
}

/// Steps of a loop that stand for all of them. What a step costs is a polynomial of its index where the counts of loops
/// inside follow from it, as in eliminations; two steps that are as far from the middle as steps are on average have
/// the mean of any up to the third degree.
pub(in crate::plan) fn typical(program: &Program, inst: &Inst, body: &Function, count: u64) -> Vec<u64> {
    let last = count.max(1) - 1;
    if !counts_follow(program, body, &given(inst, |_| None, Some(()))) {
        return vec![middle(count)];
    }
    let (middle, deviation) = (last as f64 / 2.0, ((count as f64).powi(2) - 1.0).max(0.0) / 12.0);
    [-1.0, 1.0].map(|side| (middle + side * deviation.sqrt()).round() as u64).to_vec()
}

/// Whether the count of a loop in a function follows from some of its parameters.
fn counts_follow(program: &Program, function: &Function, params: &[Option<()>]) -> bool {
    let mut follows = vec![None; function.types.len()];
    function.params.iter().zip(params).for_each(|(param, from)| follows[param.0 as usize] = *from);
    for inst in &function.insts {
        let of = |value: Value| follows[value.0 as usize];
        match &inst.op {
            Op::Def(..) => {
                let from = inst.args.iter().find_map(|arg| of(*arg));
                inst.results.iter().for_each(|result| follows[result.0 as usize] = from);
            }
            Op::For(_) | Op::Unwind(_) if of(inst.args[0]).is_some() => return true,
            Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => {
                if inst
                    .bodies()
                    .iter()
                    .any(|body| counts_follow(program, program.function(*body), &given(inst, of, None)))
                {
                    return true;
                }
            }
        }
    }
    false
}

/// What the parameters of a body are by what the arguments of its instruction are, and the index of a step.
fn given<T: Clone>(inst: &Inst, of: impl Fn(Value) -> Option<T>, index: Option<T>) -> Vec<Option<T>> {
    let same = |args: &[Value]| args.iter().map(|arg| of(*arg)).collect::<Vec<_>>();
    match &inst.op {
        Op::Def(..) => vec![],
        Op::If(_) => same(&inst.args[1..]),
        Op::Call(_) => same(&inst.args),
        Op::While(op) => {
            let (carries, invariants) = op.args(&inst.args);
            [vec![None; carries.len()], same(invariants)].concat()
        }
        Op::For(op) => {
            let (_, carries, invariants, _) = op.args(&inst.args);
            given_to_step(index, carries.len(), invariants, of)
        }
        Op::Unwind(op) => given_to_step(index, op.carries, op.args(&inst.args).invariants, of),
    }
}

fn given_to_step<T: Clone>(
    index: Option<T>,
    carries: usize,
    invariants: &[Value],
    of: impl Fn(Value) -> Option<T>,
) -> Vec<Option<T>> {
    let invariants = invariants.iter().map(|arg| of(*arg));
    iter::once(index).chain(iter::repeat_n(None, carries)).chain(invariants).collect()
}

/// The literal that a value is, if it is one.
pub(in crate::plan) fn constant(function: &Function, value: Value) -> Option<&Array> {
    let inst = function.insts.iter().find(|inst| inst.results.contains(&value))?;
    match &inst.op {
        Op::Def(def, attrs) if *def == &crate::ops::CONSTANT => Some(attrs.array("value")),
        Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
    }
}

/// Steps that a loop of unknown length is taken to have where costs are compared.
pub(in crate::plan) const UNKNOWN_STEPS: u64 = 10_000;
