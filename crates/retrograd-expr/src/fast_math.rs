//! Laws of real numbers applied to Programs: what every front end has by `fast_math="egraph"`.
//!
//! A Program → Program rewrite before `diff`. Elementwise arithmetic of one type is read as expressions of real
//! numbers, all of whose results are saturated together; the forms with the least measured work take their place if
//! they are less work, with all that is shared counted once. Nothing else of the Program changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use retrograd::{Array, Attrs, Error, OpDef, Pos, Program, Type, ops};
use retrograd_compiler::ir::{Attr, Function as Body, Inst, Op as IrOp, Value};

use crate::dag::Dag;
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::Number;
use crate::simplify::{Cost, Limits, Simplifier, without};

/// Operations that are rewritten together; longer code is cut.
const WINDOW: usize = 120;

/// Laws that are true of real numbers and lose digits, or leave the range, of floats: they are not used from left to
/// right, or backwards.
const CAREFUL: &[&str] = &[
    "expm1, backwards",
    "log1p, backwards",
    "log of a product, backwards",
    "log of a quotient, backwards",
    "log of a power, backwards",
    "a power is an exp",
    "a power is an exp, backwards",
    "a root of a product, backwards",
    "a power of a product, backwards",
    "an integer power of a product, backwards",
    "an integer power of a quotient, backwards",
    "a quotient of a quotient",
    "a reciprocal of a product, backwards",
    "the logistic function, backwards",
    "the hyperbolic tangent, backwards",
    "Pythagoras for the sine, backwards",
    "Pythagoras for the cosine, backwards",
    "the cosine of a double",
    "the cosine of a double, backwards",
    "the hyperbola",
    "a power of exp, backwards",
];

/// The Program with less elementwise work, by the laws of [`simplify`](fn@crate::simplify) where their conditions hold.
///
/// Inputs and what loops carry are taken for finite numbers. Values change within rounding, as long as no result on the
/// way leaves the range of floats; what is not defined stays so: `x/x` becomes 1 only where x is known not to be 0.
/// What is marked exact is left alone.
///
/// ```
/// use retrograd::{Array, grad};
/// use retrograd_expr::fast_math;
/// let f = grad(|[x]| (x.sin() * x.sin() + x.cos() * x.cos()) * x).rewritten(fast_math);
/// assert_eq!(f.run(&[Array::scalar(0.7)])?, [Array::scalar(1.0)]);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn fast_math(program: &Program) -> Result<Program, Error> {
    let mut program = program.clone();
    for body in &mut program.functions {
        if let Some(rewritten) = rewritten(body)? {
            *body = rewritten;
        }
    }
    Ok(program)
}

/// Elementwise rows that the language has, by the function.
fn function_of(def: &'static OpDef) -> Option<Function> {
    let same = |function: &&Function| std::ptr::eq(function.row().op, def) && !function.gives_truth();
    Function::ALL.iter().find(same).copied()
}

/// A function as it is read: what each value is as an expression of others.
struct Reading<'b> {
    body: &'b Body,
    /// The instruction that defines each value.
    definitions: Vec<Option<usize>>,
    /// Of values that are elementwise arithmetic, their window.
    windows: Vec<Option<usize>>,
}

impl<'b> Reading<'b> {
    fn of(body: &'b Body) -> Reading<'b> {
        let mut definitions = vec![None; body.types.len()];
        for (at, inst) in body.insts.iter().enumerate() {
            inst.results.iter().for_each(|value| definitions[value.0 as usize] = Some(at));
        }
        let mut windows = vec![None; body.types.len()];
        // Windows of each type are counted by themselves.
        let mut counts: BTreeMap<(&str, &[usize]), (usize, usize)> = BTreeMap::new();
        let mut next = 0;
        for inst in &body.insts {
            if arithmetic(body, inst).is_none() {
                continue;
            }
            let ty = body.ty(inst.results[0]);
            let (window, taken) = counts.entry((ty.dtype.name(), &ty.shape[..])).or_insert((next, WINDOW));
            if *taken == WINDOW {
                (*window, *taken, next) = (next, 0, next + 1);
            }
            *taken += 1;
            windows[inst.results[0].0 as usize] = Some(*window);
        }
        Reading { body, definitions, windows }
    }

    fn definition(&self, value: Value) -> Option<&'b Inst> {
        self.definitions[value.0 as usize].map(|at| &self.body.insts[at])
    }

    /// The number that every element of a value is.
    fn number(&self, value: Value) -> Option<f64> {
        let inst = self.definition(value)?;
        let IrOp::Def(def, attrs) = &inst.op else { return None };
        if std::ptr::eq(*def, &raw const ops::BROADCAST) {
            return self.number(inst.args[0]);
        }
        let literal = std::ptr::eq(*def, &raw const ops::CONSTANT).then(|| attrs.array("value"))?;
        match (literal.len(), literal.data()) {
            (1, retrograd::Data::F64(x)) => Some(x[0]),
            (1, retrograd::Data::F32(x)) => Some(f64::from(x[0])),
            _ => None,
        }
        .filter(|x| x.is_finite())
    }

    /// Values of a window that something outside of it reads, in order.
    fn roots(&self, window: usize) -> Vec<Value> {
        let mut read: BTreeSet<Value> = self.body.results.iter().copied().collect();
        for inst in &self.body.insts {
            let inside = inst.results.first().is_some_and(|value| self.windows[value.0 as usize] == Some(window));
            if !inside {
                read.extend(&inst.args);
            }
        }
        read.into_iter().filter(|value| self.windows[value.0 as usize] == Some(window)).collect()
    }

    /// The expressions of a window, by value; leaves are variables of their numbers.
    fn exprs(&self, window: usize) -> HashMap<Value, Expr> {
        let mut exprs: HashMap<Value, Expr> = HashMap::new();
        for inst in &self.body.insts {
            let Some(result) = inst.results.first().filter(|value| self.windows[value.0 as usize] == Some(window))
            else {
                continue;
            };
            let function = arithmetic(self.body, inst).expect("only arithmetic has a window");
            let args = inst.args.iter().map(|arg| match (exprs.get(arg), self.number(*arg)) {
                (Some(expr), _) => expr.clone(),
                (None, Some(x)) => Expr::number(Number::of(x)),
                (None, None) => Expr::variable(leaf(*arg)),
            });
            let expr = Expr::new(Op::Call(function), args.collect());
            exprs.insert(*result, expr);
        }
        exprs
    }
}

/// The function that an instruction is, where it is elementwise arithmetic of floats of one type; the condition of a
/// select is a leaf.
fn arithmetic(body: &Body, inst: &Inst) -> Option<Function> {
    let IrOp::Def(def, attrs) = &inst.op else { return None };
    let function = function_of(def).filter(|_| attrs.iter().next().is_none())?;
    let ty = body.ty(*inst.results.first()?);
    let skipped = usize::from(function == Function::Select);
    let alike = inst.args[skipped..].iter().all(|arg| body.ty(*arg) == ty);
    (ty.dtype.is_float() && alike && inst.args.len() == function.row().arity).then_some(function)
}

fn leaf(value: Value) -> String {
    format!("%{}", value.0)
}

fn value_of(name: &str) -> Value {
    Value(name[1..].parse().expect("leaves are values"))
}

/// Measured work of several expressions, each operation once.
fn work(exprs: &[Expr]) -> u64 {
    let dag = Dag::of_all(exprs);
    let cost = |op: &Op| if let Op::Call(function) = op { 1 + 4 * u64::from(function.row().op.cost) } else { 0 };
    dag.entries.iter().map(|entry| cost(&entry.op)).sum()
}

/// A function with less work, or none where no window has any to save.
fn rewritten(body: &Body) -> Result<Option<Body>, Error> {
    let reading = Reading::of(body);
    let windows: BTreeSet<usize> = reading.windows.iter().flatten().copied().collect();
    let mut new: HashMap<Value, Expr> = HashMap::new();
    for window in windows {
        let (roots, exprs) = (reading.roots(window), reading.exprs(window));
        let before: Vec<Expr> = roots.iter().map(|root| exprs[root].clone()).collect();
        for (root, (old, form)) in roots.iter().zip(before.iter().zip(better(&before)?)) {
            if form != *old {
                new.insert(*root, form);
            }
        }
    }
    Ok((!new.is_empty()).then(|| Writing::new(&reading, new).all()))
}

/// Forms of expressions that are less work together: all of the best ones, or those that help one by one.
fn better(before: &[Expr]) -> Result<Vec<Expr>, Error> {
    let simplifier =
        Simplifier { cost: Cost::Work, limits: Limits { nodes: 3_000, iterations: 6 }, ..Simplifier::default() };
    // What the laws cannot settle, as a contradiction about what is never reached, stays as it is.
    let Ok(forms) = simplifier.all(before, &without(CAREFUL)) else { return Ok(before.to_vec()) };
    let fine = |(old, form): (&Expr, Expr)| {
        let had: BTreeSet<String> = old.free_vars().into_iter().collect();
        if form.free_vars().iter().all(|name| had.contains(name)) { form } else { old.clone() }
    };
    let forms: Vec<Expr> = before.iter().zip(forms).map(fine).collect();
    let (mut best, mut least) = (before.to_vec(), work(before));
    if work(&forms) < least {
        return Ok(forms);
    }
    for (k, form) in forms.into_iter().enumerate() {
        let old = std::mem::replace(&mut best[k], form);
        let found = work(&best);
        if found < least {
            least = found;
        } else {
            best[k] = old;
        }
    }
    Ok(best)
}

/// The new function: instructions as they were, and new forms where what they stand for is first read.
struct Writing<'r, 'b> {
    reading: &'r Reading<'b>,
    new: HashMap<Value, Expr>,
    to: Body,
    map: Vec<Option<Value>>,
    /// Values of new expressions, by type.
    made: HashMap<(Type, Expr), Value>,
}

impl<'r, 'b> Writing<'r, 'b> {
    fn new(reading: &'r Reading<'b>, new: HashMap<Value, Expr>) -> Writing<'r, 'b> {
        let body = reading.body;
        let to = Body { name: body.name.clone(), params: vec![], insts: vec![], results: vec![], types: vec![] };
        Writing { reading, new, to, map: vec![None; body.types.len()], made: HashMap::new() }
    }

    fn all(mut self) -> Body {
        let body = self.reading.body;
        for param in &body.params {
            let value = self.define(body.ty(*param).clone());
            self.to.params.push(value);
            self.map[param.0 as usize] = Some(value);
        }
        for inst in &body.insts {
            if inst.results.first().is_none_or(|value| self.reading.windows[value.0 as usize].is_none()) {
                self.copy(inst);
            }
        }
        self.to.results = body.results.iter().map(|value| self.value(*value)).collect();
        self.to
    }

    fn define(&mut self, ty: Type) -> Value {
        self.to.types.push(ty);
        Value(u32::try_from(self.to.types.len() - 1).expect("fewer than 2^32 values"))
    }

    fn push(&mut self, def: &'static OpDef, attrs: Attrs, args: Vec<Value>, ty: Type, pos: &Pos) -> Value {
        let result = self.define(ty);
        self.to.insts.push(Inst { op: IrOp::Def(def, attrs), args, results: vec![result], pos: pos.clone() });
        result
    }

    /// An instruction as it was.
    fn copy(&mut self, inst: &Inst) {
        let args = inst.args.iter().map(|arg| self.value(*arg)).collect();
        let results: Vec<Value> =
            inst.results.iter().map(|value| self.define(self.reading.body.ty(*value).clone())).collect();
        inst.results.iter().zip(&results).for_each(|(old, new)| self.map[old.0 as usize] = Some(*new));
        self.to.insts.push(Inst { op: inst.op.clone(), args, results, pos: inst.pos.clone() });
    }

    /// What stands for an old value; arithmetic is written where it is first needed, arguments first.
    fn value(&mut self, root: Value) -> Value {
        let mut stack = vec![root];
        while let Some(old) = stack.last().copied() {
            if self.map[old.0 as usize].is_some() {
                stack.pop();
                continue;
            }
            let inst = self.reading.definition(old).expect("parameters are known");
            let needed: Vec<Value> = match self.new.get(&old) {
                Some(form) => form.free_vars().iter().map(|name| value_of(name)).collect(),
                None => inst.args.clone(),
            };
            let missing: Vec<Value> = needed.into_iter().filter(|value| self.map[value.0 as usize].is_none()).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            match self.new.get(&old).cloned() {
                Some(form) => {
                    let value = self.expr(&form, self.reading.body.ty(old), &inst.pos);
                    self.map[old.0 as usize] = Some(value);
                }
                None => self.copy(inst),
            }
        }
        self.map[root.0 as usize].expect("written above")
    }

    fn expr(&mut self, form: &Expr, ty: &Type, pos: &Pos) -> Value {
        let dag = Dag::of(form);
        let exprs = dag.exprs();
        let mut values: Vec<Option<Value>> = vec![None; dag.len()];
        for id in 0..dag.len() {
            let key = (ty.clone(), exprs[id].clone());
            if let Some(known) = self.made.get(&key) {
                values[id] = Some(*known);
                continue;
            }
            let value = match dag.op(id) {
                Op::Variable(name) => self.map[value_of(name).0 as usize].expect("leaves come first"),
                Op::Call(function) => {
                    let args = dag.args(id).iter().map(|arg| values[*arg].expect("arguments come first")).collect();
                    self.push(function.row().op, Attrs::none(), args, ty.clone(), pos)
                }
                Op::Number(x) => self.full(x.to_f64(), ty, pos),
                Op::Constant(x) => self.full(x.to_f64(), ty, pos),
                Op::Array(_)
                | Op::Einsum(_)
                | Op::Stack
                | Op::Index
                | Op::Fold(..)
                | Op::StopGradient
                | Op::Custom(_) => {
                    unreachable!("arithmetic is made of functions of numbers")
                }
            };
            self.made.insert(key, value);
            values[id] = Some(value);
        }
        values[dag.root()].expect("the root comes last")
    }

    fn full(&mut self, x: f64, ty: &Type, pos: &Pos) -> Value {
        let number = Array::number(ty.dtype, x);
        let scalar = self.push(
            &ops::CONSTANT,
            Attrs::none().with("value", Attr::Array(number)),
            vec![],
            Type::scalar(ty.dtype),
            pos,
        );
        if ty.rank() == 0 {
            return scalar;
        }
        self.push(
            &ops::BROADCAST,
            Attrs::none().ints("shape", ty.shape.iter().copied()).ints("axes", []),
            vec![scalar],
            ty.clone(),
            pos,
        )
    }
}
