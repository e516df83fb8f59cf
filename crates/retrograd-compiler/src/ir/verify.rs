//! The rules of the IR: what passes here, every later stage may rely on.

use super::attr::{Attr, AttrKind, Attrs};
use super::error::{Error, ErrorKind, Pos};
use super::linear::check_unwinds;
use super::op_def::OpDef;
use super::program::{
    CallOp, CustomRule, ForOp, FuncId, Function, IfOp, Inst, Linearity, Op, Program, UnwindArgs, UnwindOp, Value,
    WhileOp,
};
use super::types::{DType, Type};

/// Deepest nesting of control flow.
pub const MAX_NESTING: usize = 64;

/// Most instructions with every body copied into the places where it runs: bodies that share bodies are short to write
/// and endless to run.
pub const MAX_INSTS: u64 = 1 << 22;

/// Checks a Program: values defined once and before use, attributes present, types as inferred, bodies that fit their
/// control flow and do not recurse, and every `bwd` linear in its cotangents unless it is marked otherwise.
///
/// ```
/// use retrograd_compiler::{ir, ops};
/// let text = "fn main(%0: f64[3], %1: f64) -> f64[3] {\n  %2: f64[3] = add %0, %1\n  return %2\n}";
/// let error = ir::verify(&ops::parse(text, "add.rg").unwrap()).unwrap_err();
/// assert_eq!(error.to_string(), "add.rg:2: shape error: %2 in `main`: `add` needs equal shapes, found f64[3] and f64");
/// ```
pub fn verify(program: &Program) -> Result<(), Error> {
    check_bodies(program)?;
    for function in &program.functions {
        check_definitions(function)?;
    }
    for function in &program.functions {
        let checker = Checker { program, function };
        function.insts.iter().try_for_each(|inst| checker.inst(inst))?;
    }
    // Linearity is judged last, since it relies on all of the above.
    (0..).map(FuncId).take(program.functions.len()).try_for_each(|id| check_unwinds(program, id))
}

fn invalid<T>(pos: &Pos, message: String) -> Result<T, Error> {
    Err(Error::new(ErrorKind::Verify, pos.clone(), message))
}

/// Bodies exist, and no function runs itself: functions are taken away once all that they run are gone.
fn check_bodies(program: &Program) -> Result<(), Error> {
    let count = program.functions.len();
    if program.entry.0 as usize >= count {
        return invalid(&Pos::unknown(), format!("the entry is function {} of {count}", program.entry.0));
    }
    let mut users = vec![Vec::new(); count];
    let mut waiting = vec![0usize; count];
    for (user, function) in program.functions.iter().enumerate() {
        for inst in &function.insts {
            for body in inst.bodies() {
                let Some(users) = users.get_mut(body.0 as usize) else {
                    return invalid(
                        &inst.pos,
                        format!("`{}` in `{}` runs function {} of {count}", inst.op.name(), function.name, body.0),
                    );
                };
                users.push(user);
                waiting[user] += 1;
            }
        }
    }
    let mut ready: Vec<usize> = (0..count).filter(|id| waiting[*id] == 0).collect();
    let mut depths = vec![0usize; count];
    let mut lengths: Vec<u64> = program.functions.iter().map(|function| function.insts.len() as u64).collect();
    while let Some(body) = ready.pop() {
        for user in &users[body] {
            lengths[*user] = lengths[*user].saturating_add(lengths[body]);
            depths[*user] = depths[*user].max(depths[body] + 1);
            waiting[*user] -= 1;
            if waiting[*user] == 0 {
                ready.push(*user);
            }
        }
    }
    for (id, function) in program.functions.iter().enumerate() {
        let pos = || {
            function.insts.iter().find(|inst| !inst.bodies().is_empty()).map_or(Pos::unknown(), |inst| inst.pos.clone())
        };
        if waiting[id] > 0 {
            return invalid(&pos(), format!("`{}` runs itself; bodies must not recurse", function.name));
        }
        if depths[id] > MAX_NESTING {
            let message = format!(
                "control flow in `{}` nests {} deep; at most {MAX_NESTING} is supported",
                function.name, depths[id]
            );
            return Err(Error::new(ErrorKind::Unsupported, pos(), message));
        }
        if lengths[id] > MAX_INSTS {
            return Err(too_long(pos(), &function.name, lengths[id]));
        }
    }
    Ok(())
}

/// The error of a function of so many instructions.
pub(crate) fn too_long(pos: Pos, name: &str, length: u64) -> Error {
    let length = if length == u64::MAX { "more than can be counted".to_owned() } else { length.to_string() };
    let message =
        format!("with every body in its place `{name}` has {length} instructions; at most {MAX_INSTS} are supported");
    Error::new(ErrorKind::Unsupported, pos, message)
}

/// Every value is defined once, before it is read, and has a type that is supported.
fn check_definitions(function: &Function) -> Result<(), Error> {
    let name = &function.name;
    // The first instruction that may read each value.
    let mut readable_from: Vec<Option<usize>> = vec![None; function.types.len()];
    let mut define = |value: Value, from: usize, pos: &Pos| {
        let Some(slot) = readable_from.get_mut(value.0 as usize) else {
            return invalid(pos, format!("%{} in `{name}` has no type", value.0));
        };
        if slot.replace(from).is_some() {
            return invalid(pos, format!("%{} in `{name}` is defined twice", value.0));
        }
        check_type(function, value, pos)
    };
    function.params.iter().try_for_each(|param| define(*param, 0, &Pos::unknown()))?;
    for (k, inst) in function.insts.iter().enumerate() {
        inst.results.iter().try_for_each(|value| define(*value, k + 1, &inst.pos))?;
    }
    let readable =
        |value: &Value, k: usize| matches!(readable_from.get(value.0 as usize), Some(Some(from)) if *from <= k);
    for (k, inst) in function.insts.iter().enumerate() {
        if let Some(value) = inst.args.iter().find(|value| !readable(value, k)) {
            return invalid(
                &inst.pos,
                format!("`{}` in `{name}` reads %{}, which is not defined before it", inst.op.name(), value.0),
            );
        }
    }
    match function.results.iter().find(|value| !readable(value, function.insts.len())) {
        Some(value) => invalid(&Pos::unknown(), format!("`{name}` returns %{}, which is not defined", value.0)),
        None => Ok(()),
    }
}

fn check_type(function: &Function, value: Value, pos: &Pos) -> Result<(), Error> {
    let ty = function.ty(value);
    let place = format!("%{} in `{}`", value.0, function.name);
    ty.check().map_err(|error| Error::new(error.kind, pos.clone(), format!("{place}: {}", error.message)))
}

/// Checks the instructions of one function, whose values are known to be defined.
struct Checker<'p> {
    program: &'p Program,
    function: &'p Function,
}

impl Checker<'_> {
    fn inst(&self, inst: &Inst) -> Result<(), Error> {
        match &inst.op {
            Op::Def(def, attrs) => self.row(inst, def, attrs),
            Op::If(op) => self.branch(inst, op),
            Op::For(op) => self.counted_loop(inst, op),
            Op::While(op) => self.conditional_loop(inst, op),
            Op::Unwind(op) => self.unwind(inst, op),
            Op::Call(op) => self.call(inst, op),
        }
    }

    /// What an instruction is called in messages: its first result and its function.
    fn place(&self, inst: &Inst) -> String {
        let first = inst.results.first().map_or(String::new(), |v| format!("%{} ", v.0));
        format!("{first}in `{}`", self.function.name)
    }

    fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|v| self.function.ty(*v).clone()).collect()
    }

    fn fail(&self, inst: &Inst, message: String) -> Result<(), Error> {
        invalid(&inst.pos, format!("{}: `{}` {message}", self.place(inst), inst.op.name()))
    }

    fn row(&self, inst: &Inst, def: &OpDef, attrs: &Attrs) -> Result<(), Error> {
        if let Some(arity) = def.arity
            && arity != inst.args.len()
        {
            return self.fail(inst, format!("takes {arity} arguments, found {}", inst.args.len()));
        }
        if inst.results.len() != 1 {
            return self.fail(inst, format!("has one result, found {}", inst.results.len()));
        }
        if let Some(mistake) = mistake(def, attrs) {
            return self.fail(inst, mistake);
        }
        let inferred = (def.infer)(def, &self.types(&inst.args), attrs).map_err(|error| {
            Error::new(error.kind, inst.pos.clone(), format!("{}: {}", self.place(inst), error.message))
        })?;
        let stated = self.function.ty(inst.results[0]);
        if inferred == *stated { Ok(()) } else { self.fail(inst, format!("gives {inferred}, found {stated}")) }
    }

    fn branch(&self, inst: &Inst, op: &IfOp) -> Result<(), Error> {
        let [predicate, args @ ..] = &self.types(&inst.args)[..] else {
            return self.fail(inst, "needs a predicate".into());
        };
        if *predicate != Type::scalar(DType::Bool) {
            return self.fail(inst, format!("needs a bool scalar as predicate, found {predicate}"));
        }
        let results = self.types(&inst.results);
        self.signature(inst, op.then_body, args, &results)?;
        self.signature(inst, op.else_body, args, &results)
    }

    fn counted_loop(&self, inst: &Inst, op: &ForOp) -> Result<(), Error> {
        let grouped = op.carries.saturating_add(op.invariants).saturating_add(1);
        if inst.args.len() < grouped || inst.results.len() < op.carries {
            return self.fail(
                inst,
                format!(
                    "has a count, {} carries and {} invariants, found {} arguments and {} results",
                    op.carries,
                    op.invariants,
                    inst.args.len(),
                    inst.results.len()
                ),
            );
        }
        let (args, results) = (self.values(&inst.args), self.values(&inst.results));
        let (count, c0, inv, xs) = op.args(&args);
        let (_, ys) = op.results(&results);
        self.count(inst, count)?;
        let params = [vec![count.1.clone()], owned(c0), owned(inv), self.rows(inst, xs, op.bound)?].concat();
        self.signature(inst, op.body, &params, &[owned(c0), self.rows(inst, ys, op.bound)?].concat())?;
        self.same(inst, "results", &owned(c0), &owned(&results[..op.carries]))
    }

    fn conditional_loop(&self, inst: &Inst, op: &WhileOp) -> Result<(), Error> {
        if inst.args.len() < op.carries || inst.results.len() != op.carries.saturating_add(1) {
            let found = format!("found {} arguments and {} results", inst.args.len(), inst.results.len());
            return self.fail(inst, format!("has {} carries and returns them and its trips, {found}", op.carries));
        }
        let args = self.types(&inst.args);
        let (c0, _) = op.args(&args);
        self.signature(inst, op.cond, &args, &[Type::scalar(DType::Bool)])?;
        self.signature(inst, op.body, &args, c0)?;
        self.same(inst, "results", &[c0, &[Type::scalar(DType::I64)]].concat(), &self.types(&inst.results))
    }

    fn call(&self, inst: &Inst, op: &CallOp) -> Result<(), Error> {
        let (args, results) = (self.types(&inst.args), self.types(&inst.results));
        self.signature(inst, op.body, &args, &results)?;
        let floats = |types: &[Type]| types.iter().filter(|ty| ty.dtype.is_float()).cloned().collect::<Vec<_>>();
        match &op.rule {
            None => Ok(()),
            Some(CustomRule::Vjp { forward, backward }) => {
                let found = self.program.function(*forward).result_types();
                let Some(residuals) = found.strip_prefix(&results[..]) else {
                    return self.same(
                        inst,
                        &format!("first results of `{}`", self.program.function(*forward).name),
                        &results,
                        &found,
                    );
                };
                self.signature(inst, *forward, &args, &found)?;
                self.signature(inst, *backward, &[residuals, &floats(&results)].concat(), &floats(&args))
            }
            Some(CustomRule::Jvp { tangent }) => {
                self.signature(inst, *tangent, &[&args[..], &floats(&args)].concat(), &floats(&results))
            }
        }
    }

    fn unwind(&self, inst: &Inst, op: &UnwindOp) -> Result<(), Error> {
        let lengths = [1, op.carries, op.invariants, op.streams, op.adjoints, op.emitted, op.running];
        let grouped = lengths.into_iter().fold(0, usize::saturating_add);
        if inst.args.len() != grouped || inst.results.len() < op.adjoints.saturating_add(op.running) {
            return self.fail(
                inst,
                format!(
                    "has groups of {grouped} arguments, found {} and {} results",
                    inst.args.len(),
                    inst.results.len()
                ),
            );
        }
        let (args, results) = (self.values(&inst.args), self.values(&inst.results));
        let UnwindArgs { count, carries, invariants, streams, adjoints, emitted, running } = op.args(&args);
        let (a, r, h) = op.results(&results);
        self.count(inst, count)?;
        // What is not linear may carry what is no cotangent: the state itself, where `plan` puts back what a step
        // overwrote.
        for (value, ty) in adjoints.iter().chain(emitted).chain(running).chain(h) {
            if op.linearity == Linearity::Linear && !ty.dtype.is_float() {
                return self.fail(inst, format!("needs cotangents that are floats, found %{}: {ty}", value.0));
            }
        }
        let forward =
            [vec![count.1.clone()], owned(carries), owned(invariants), self.rows(inst, streams, op.bound)?].concat();
        self.signature(inst, op.body, &forward, &owned(carries))?;
        let backward = [forward, owned(adjoints), self.rows(inst, emitted, op.bound)?, owned(running)].concat();
        self.signature(
            inst,
            op.bwd,
            &backward,
            &[owned(adjoints), owned(running), self.rows(inst, h, op.bound)?].concat(),
        )?;
        self.same(inst, "results", &[owned(adjoints), owned(running)].concat(), &[owned(a), owned(r)].concat())
    }

    fn values(&self, values: &[Value]) -> Vec<(Value, &Type)> {
        values.iter().map(|v| (*v, self.function.ty(*v))).collect()
    }

    fn count(&self, inst: &Inst, (value, ty): (Value, &Type)) -> Result<(), Error> {
        if *ty == Type::scalar(DType::I64) {
            return Ok(());
        }
        self.fail(inst, format!("needs an i64 scalar as count, found %{}: {ty}", value.0))
    }

    /// Types of the rows of streams, whose leading extent must be the bound.
    fn rows(&self, inst: &Inst, streams: &[(Value, &Type)], bound: usize) -> Result<Vec<Type>, Error> {
        let row = |(value, ty): &(Value, &Type)| {
            if ty.shape.first() != Some(&bound) {
                self.fail(inst, format!("needs streams of {bound} rows, found %{}: {ty}", value.0))?;
            }
            Ok(ty.row().expect("a stream with rows has a leading axis"))
        };
        streams.iter().map(row).collect()
    }

    /// A body takes and returns what its control flow passes.
    fn signature(&self, inst: &Inst, body: FuncId, params: &[Type], results: &[Type]) -> Result<(), Error> {
        let body = self.program.function(body);
        self.same(inst, &format!("parameters of `{}`", body.name), params, &body.param_types())?;
        self.same(inst, &format!("results of `{}`", body.name), results, &body.result_types())
    }

    fn same(&self, inst: &Inst, what: &str, expected: &[Type], found: &[Type]) -> Result<(), Error> {
        if expected == found {
            return Ok(());
        }
        let list = |types: &[Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        self.fail(inst, format!("needs ({}) as {what}, found ({})", list(expected), list(found)))
    }
}

fn owned(values: &[(Value, &Type)]) -> Vec<Type> {
    values.iter().map(|(_, ty)| (*ty).clone()).collect()
}

/// What is wrong with the attributes of a row: shape rules rely on those that it names, each of the right kind.
pub(super) fn mistake(def: &OpDef, attrs: &Attrs) -> Option<String> {
    let names: Vec<&str> = attrs.iter().map(|(name, _)| *name).collect();
    let optional = |name: &str| AttrKind::of(name) == AttrKind::Flag && !names.contains(&name);
    if !names.iter().eq(def.attrs.iter().filter(|name| !optional(name))) {
        return Some(format!("has the attributes [{}], found [{}]", def.attrs.join(", "), names.join(", ")));
    }
    let (name, _) = attrs.iter().find(|(name, attr)| !fits(attr, AttrKind::of(name)))?;
    Some(format!("needs {} as `{name}`", AttrKind::of(name).words()))
}

fn fits(attr: &Attr, kind: AttrKind) -> bool {
    match attr {
        Attr::Ints(values) => kind == AttrKind::Ints && values.iter().all(|v| *v >= 0),
        Attr::DType(_) => kind == AttrKind::DType,
        Attr::Type(ty) => kind == AttrKind::Type && ty.checked_elements().is_some(),
        Attr::Array(_) => kind == AttrKind::Array,
        Attr::Text(_) => kind == AttrKind::Text,
        Attr::Flag => kind == AttrKind::Flag,
    }
}
