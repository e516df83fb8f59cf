//! The tracer: front ends run the user's function once over handles, and each operation becomes an instruction.
//!
//! Bodies of loops and branches are closed functions. A body may read any value of the bodies around it: such a value
//! becomes an invariant of every loop and an argument of every branch in between, once. Small literals are written
//! again inside the body instead.

mod sites;

use std::cell::RefCell;
use std::collections::BTreeMap;

use retrograd_compiler::ir::{
    Array, Attrs, Builder, CallOp, CustomRule, DType, Error, ErrorKind, ForOp, FuncId, Function, IfOp, Op, OpDef, Pos,
    Program, Type, Value, WhileOp, verify,
};

pub use sites::{Moment, Site};

/// Literals of at most this many elements are written again in a body that reads them; larger ones are passed in.
const SMALL_LITERAL: usize = 16;

/// Builds one Program from operations in the order in which they happen.
///
/// A method that returns an error leaves the tracer as it was: an open loop or branch stays open until it is ended or
/// [abandoned](Tracer::abandon).
///
/// ```
/// use retrograd::trace::Tracer;
/// use retrograd::{Array, Attrs, Pos, Type, ops};
/// # fn main() -> Result<(), retrograd::Error> {
/// let (tracer, pos) = (Tracer::new("power"), Pos::unknown());
/// let x = tracer.input(Type::f64([]));
/// let count = tracer.constant(Array::int(3), &pos);
/// let one = tracer.constant(Array::scalar(1.0), &pos);
/// let (_, carries, _) = tracer.begin_for(count, &[one], &[], &pos)?;
/// let product = tracer.op(&ops::MUL, Attrs::none(), &[carries[0], x], &pos)?;   // x becomes an invariant of the loop
/// let results = tracer.end_for(&[product], &[])?;
/// let program = tracer.finish(&results)?;
/// assert_eq!(retrograd::eval::run(&program, &[Array::scalar(2.0)])?, [Array::scalar(8.0)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Tracer {
    state: RefCell<State>,
}

/// A value of a trace; it belongs to the body that was open when it was made, and to the tracer that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Traced {
    frame: u32,
    value: Value,
}

#[derive(Debug)]
struct State {
    name: String,
    /// Open bodies, the entry first.
    frames: Vec<Frame>,
    /// Closed bodies, in the order in which they were closed.
    functions: Vec<Function>,
    /// What remains of each frame that was ever opened, by its number.
    history: Vec<Remains>,
}

/// A function under construction.
#[derive(Debug)]
struct Frame {
    id: u32,
    builder: Builder,
    kind: Kind,
    /// Values of enclosing frames that became parameters: the value, what it is in the frame next outside, and here.
    captured: Vec<Capture>,
    /// What a value of an enclosing frame is here.
    known_as: BTreeMap<Traced, Value>,
    /// Small literals and integers computed from them.
    literals: BTreeMap<Value, Array>,
    /// How many functions were closed before this frame was opened.
    functions_before: usize,
    pos: Pos,
}

#[derive(Clone, Copy, Debug)]
struct Capture {
    source: Traced,
    outer: Value,
    inner: Value,
}

#[derive(Debug)]
enum Kind {
    Entry,
    For(Loop),
    Condition {
        carries: Vec<Value>,
        carry_params: Vec<Value>,
    },
    While {
        carries: Vec<Value>,
        carry_params: Vec<Value>,
        cond: Function,
    },
    Function,
    Then {
        predicate: Value,
    },
    /// The first branch waits until it is known what both result in.
    Else {
        predicate: Value,
        then_frame: Box<Frame>,
    },
}

/// A loop whose body is open: operands in the frame outside, parameters inside.
#[derive(Debug)]
struct Loop {
    count: Value,
    count_known: Option<usize>,
    carries: Vec<Value>,
    streams: Vec<Value>,
    extent: Option<usize>,
    index_param: Value,
    carry_params: Vec<Value>,
    stream_params: Vec<Value>,
}

/// What the tracer still knows of a frame after it was closed, for messages.
#[derive(Debug)]
struct Remains {
    place: Place,
    types: Vec<Type>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Entry,
    LoopBody,
    Branch,
    Function,
}

/// A closed function of a trace, to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedFunction(FuncId);

/// The derivative of a call, where it is not that of its body; the meaning is that of [`CustomRule`].
#[derive(Clone, Copy, Debug)]
pub enum TracedRule {
    /// That of the body.
    OfBody,
    /// `forward(args) -> (results, residuals)` and `backward(residuals, cts) -> cts of args`.
    Vjp {
        /// Results, then what `backward` reads.
        forward: TracedFunction,
        /// From cotangents of the float results to those of the float arguments.
        backward: TracedFunction,
    },
    /// `tangent(args, dargs) -> dresults`.
    Jvp {
        /// From tangents of the float arguments to those of the float results.
        tangent: TracedFunction,
    },
}

impl TracedRule {
    fn custom(self) -> Option<CustomRule> {
        match self {
            TracedRule::OfBody => None,
            TracedRule::Vjp { forward, backward } => Some(CustomRule::Vjp { forward: forward.0, backward: backward.0 }),
            TracedRule::Jvp { tangent } => Some(CustomRule::Jvp { tangent: tangent.0 }),
        }
    }
}

/// Index, carries and rows of streams inside a loop body.
pub type LoopParams = (Traced, Vec<Traced>, Vec<Traced>);

impl Tracer {
    /// An empty trace; `name` is the name of the entry function.
    pub fn new(name: &str) -> Tracer {
        let mut state = State { name: name.to_owned(), frames: vec![], functions: vec![], history: vec![] };
        state.open(Kind::Entry, Place::Entry, &Pos::unknown());
        Tracer { state: RefCell::new(state) }
    }

    /// A new input of the Program. Inputs belong to the entry, even when a loop is open.
    pub fn input(&self, ty: Type) -> Traced {
        let state = self.state.borrow();
        let entry = &state.frames[0];
        Traced { frame: entry.id, value: entry.builder.param(ty) }
    }

    /// The type of a value, also of one whose body is closed.
    pub fn ty(&self, v: Traced) -> Type {
        let state = self.state.borrow();
        match state.frames.iter().flat_map(Frame::with_waiting).find(|frame| frame.id == v.frame) {
            Some(frame) => frame.builder.ty(v.value),
            None => state.history[v.frame as usize].types[v.value.0 as usize].clone(),
        }
    }

    /// The literal that a value is known to be while tracing: a small `constant`, or integers computed from such.
    pub fn literal(&self, v: Traced) -> Option<Array> {
        self.state.borrow().literal(v)
    }

    /// Whether a value can be used now: its body is still open.
    pub fn is_open(&self, v: Traced) -> bool {
        self.state.borrow().frames.iter().any(|frame| frame.id == v.frame)
    }

    /// How many loops and branches are open.
    pub fn depth(&self) -> usize {
        self.state.borrow().frames.len() - 1
    }

    /// One instruction of the op table in the innermost open body.
    pub fn op(&self, def: &'static OpDef, attrs: Attrs, args: &[Traced], pos: &Pos) -> Result<Traced, Error> {
        let mut state = self.state.borrow_mut();
        let args = state.resolve_all(args, pos)?;
        let frame = state.top();
        let known = integers(def, &attrs, &args, frame);
        let value = frame.builder.try_row(def, attrs, &args)?;
        if let Some(literal) = known.and_then(|args| args.eval(&frame.builder.ty(value))) {
            frame.literals.insert(value, literal);
        }
        Ok(Traced { frame: frame.id, value })
    }

    /// A literal.
    pub fn constant(&self, value: Array, pos: &Pos) -> Traced {
        let mut state = self.state.borrow_mut();
        let frame = state.top();
        frame.builder.set_pos(pos);
        Traced { frame: frame.id, value: frame.literal(value) }
    }

    /// Opens the body of a loop of `count` steps; returns the index, the carries and this step's rows of the streams.
    pub fn begin_for(
        &self,
        count: Traced,
        carries: &[Traced],
        streams: &[Traced],
        pos: &Pos,
    ) -> Result<LoopParams, Error> {
        let mut state = self.state.borrow_mut();
        let literal = state.literal(count);
        let count = state.resolve_all(&[count], pos)?[0];
        expect_scalar("the count of a loop", &state.top().builder.ty(count), DType::I64, pos)?;
        let count_known = literal.map(|n| usize::try_from(n.as_i64()[0]).unwrap_or(0));
        let carries = state.resolve_all(carries, pos)?;
        let streams = state.resolve_all(streams, pos)?;
        let outside = state.top();
        let carry_types = outside.builder.types(&carries);
        let stream_types = outside.builder.types(&streams);
        let (extent, row_types) = rows_of(&stream_types, pos)?;
        if let (Some(n), Some(extent)) = (count_known, extent)
            && n > extent
        {
            return Err(Error::new(
                ErrorKind::Shape,
                pos.clone(),
                format!("a loop of {n} steps over streams of {extent} rows"),
            ));
        }
        let inside = Builder::new("");
        let index_param = inside.param(Type::scalar(DType::I64));
        let carry_params = inside.params(carry_types);
        let stream_params = inside.params(row_types);
        let open = Loop { count, count_known, carries, streams, extent, index_param, carry_params, stream_params };
        let params = (open.index_param, open.carry_params.clone(), open.stream_params.clone());
        let id = state.open(Kind::For(open), Place::LoopBody, pos);
        state.top().builder = inside;
        let traced = |value| Traced { frame: id, value };
        Ok((traced(params.0), params.1.into_iter().map(traced).collect(), params.2.into_iter().map(traced).collect()))
    }

    /// Closes the body of the innermost loop with the next carries and the emitted rows; returns the final carries,
    /// then the streams.
    pub fn end_for(&self, next: &[Traced], emitted: &[Traced]) -> Result<Vec<Traced>, Error> {
        let mut state = self.state.borrow_mut();
        let pos = state.top().pos.clone();
        let results = [state.resolve_all(next, &pos)?, state.resolve_all(emitted, &pos)?].concat();
        let Kind::For(open) = &state.top_ref().kind else {
            panic!("front ends nest: `end_for` closes what `begin_for` opened")
        };
        let body = &state.top_ref().builder;
        check_carries(&body.types(&open.carry_params), &body.types(&results[..next.len()]), &pos)?;
        let row_types = body.types(&results[next.len()..]);
        let bound = if emitted.is_empty() { Ok(open.extent.unwrap_or(0)) } else { bound_of_emitted(open, &pos) }?;

        let all_types = body.types(&open.carry_params);
        let mut closed = state.close(results);
        let Kind::For(open) = closed.kind else { panic!("checked above") };
        let kept = Kept::of(&open.carries, &open.carry_params, &mut closed.function.results, &mut closed.captured);
        let mut result_types: Vec<Type> = kept.carries(&all_types);
        result_types.extend(row_types.iter().map(|ty| ty.stream(bound)));
        let mut function = closed.function;
        let inner: Vec<Value> = closed.captured.iter().map(|capture| capture.inner).collect();
        let outer: Vec<Value> = closed.captured.iter().map(|capture| capture.outer).collect();
        let (carries, carry_params) = (kept.carries(&open.carries), kept.carries(&open.carry_params));
        let op = ForOp { carries: carries.len(), invariants: inner.len(), bound, body: FuncId(0) };
        function.params = [vec![open.index_param], carry_params, inner, open.stream_params].concat();
        let op = Op::For(ForOp { body: state.add(function), ..op });
        let args = [vec![open.count], carries, outer, open.streams].concat();
        let results = state.push(op, args, result_types, &pos);
        Ok(kept.results(&open.carries, results, state.top_ref().id))
    }

    /// A literal in the open body at a depth, or where `shape` says so one number repeated: the start of a carry that
    /// is found late.
    pub fn constant_at(&self, depth: usize, value: Array, shape: Option<&[usize]>, pos: &Pos) -> Traced {
        let mut state = self.state.borrow_mut();
        let frame = &mut state.frames[depth];
        frame.builder.set_pos(pos);
        let literal = frame.literal(value);
        let value = shape.map_or(literal, |shape| frame.builder.broadcast(literal, shape, &[]));
        Traced { frame: frame.id, value }
    }

    /// One more carry of the open loop at a depth, found while its body is traced: its start, as a value around the
    /// loop; returns it as the body sees it. The end of the loop gives its next value after those of the carries
    /// before it.
    pub fn carry(&self, depth: usize, start: Traced) -> Result<Traced, Error> {
        let mut state = self.state.borrow_mut();
        let pos = state.frames[depth].pos.clone();
        state.check_open(start, &pos)?;
        if state.frames[depth..].iter().any(|frame| frame.id == start.frame) {
            return Err(Error::new(
                ErrorKind::Argument,
                pos,
                "a carry starts with a value from inside of its loop".to_owned(),
            ));
        }
        let outer = state.resolve(start, depth - 1);
        let ty = state.frames[depth - 1].builder.ty(outer);
        let frame = &mut state.frames[depth];
        let inner = frame.builder.param(ty.clone());
        match &mut frame.kind {
            Kind::For(Loop { carries, carry_params, .. }) | Kind::Condition { carries, carry_params } => {
                carries.push(outer);
                carry_params.push(inner);
            }
            Kind::While { carries, carry_params, cond } => {
                cond.types.push(ty);
                cond.params.insert(carries.len(), last_value(&cond.types));
                carries.push(outer);
                carry_params.push(inner);
            }
            Kind::Entry | Kind::Function | Kind::Then { .. } | Kind::Else { .. } => {
                panic!("front ends nest: only a loop has carries")
            }
        }
        Ok(Traced { frame: frame.id, value: inner })
    }

    /// Opens the condition of a loop that runs while it holds; returns the carries.
    pub fn begin_while(&self, carries: &[Traced], pos: &Pos) -> Result<Vec<Traced>, Error> {
        let mut state = self.state.borrow_mut();
        let carries = state.resolve_all(carries, pos)?;
        let inside = Builder::new("");
        let carry_params = inside.params(state.top().builder.types(&carries));
        let id = state.open(Kind::Condition { carries, carry_params: carry_params.clone() }, Place::LoopBody, pos);
        state.top().builder = inside;
        Ok(carry_params.into_iter().map(|value| Traced { frame: id, value }).collect())
    }

    /// Closes the condition with its result and opens the body; returns the carries.
    pub fn begin_while_body(&self, predicate: Traced) -> Result<Vec<Traced>, Error> {
        let mut state = self.state.borrow_mut();
        let pos = state.top().pos.clone();
        let predicate = state.resolve_all(&[predicate], &pos)?;
        expect_scalar("the condition of a loop", &state.top().builder.ty(predicate[0]), DType::Bool, &pos)?;
        let functions_before = state.top().functions_before;
        let mut closed = state.close(predicate);
        let Kind::Condition { carries, carry_params } = closed.kind else {
            panic!("front ends nest: `begin_while_body` follows `begin_while`")
        };
        // A carry that was found after something was captured comes before it, as `end_while` expects.
        closed.function.params =
            carry_params.iter().copied().chain(closed.captured.iter().map(|capture| capture.inner)).collect();
        let inside = Builder::new("");
        let params = inside.params(carry_params.iter().map(|v| closed.function.ty(*v).clone()));
        let kind = Kind::While { carries, carry_params: params.clone(), cond: closed.function };
        let id = state.open(kind, Place::LoopBody, &pos);
        state.top().builder = inside;
        state.inherit(&closed.captured, functions_before);
        Ok(params.into_iter().map(|value| Traced { frame: id, value }).collect())
    }

    /// Closes the body of the innermost `while` with the next carries; returns the final carries, then the number of
    /// trips.
    pub fn end_while(&self, next: &[Traced]) -> Result<Vec<Traced>, Error> {
        let mut state = self.state.borrow_mut();
        let pos = state.top().pos.clone();
        let results = state.resolve_all(next, &pos)?;
        let Kind::While { carry_params, .. } = &state.top_ref().kind else {
            panic!("front ends nest: `end_while` closes what `begin_while_body` opened")
        };
        let body = &state.top_ref().builder;
        let carry_types = body.types(carry_params);
        check_carries(&carry_types, &body.types(&results), &pos)?;
        let mut closed = state.close(results);
        let Kind::While { carries, carry_params, mut cond } = closed.kind else { panic!("checked above") };
        // What only the body captured is an invariant that the condition does not read.
        for capture in &closed.captured[cond.params.len() - carries.len()..] {
            cond.types.push(closed.function.ty(capture.inner).clone());
            cond.params.push(last_value(&cond.types));
        }
        let kept = Kept::of(&carries, &carry_params, &mut closed.function.results, &mut closed.captured);
        let (seen, invariants) = cond.params.split_at(carries.len());
        cond.params = [kept.carries(seen), invariants.to_vec(), kept.passed(seen)].concat();
        let (kept_carries, inner) = (kept.carries(&carries), closed.captured.iter().map(|capture| capture.inner));
        closed.function.params = kept.carries(&carry_params).into_iter().chain(inner).collect();
        let op = WhileOp { cond: state.add(cond), body: state.add(closed.function), carries: kept_carries.len() };
        let args = kept_carries.into_iter().chain(closed.captured.iter().map(|capture| capture.outer)).collect();
        let types = [kept.carries(&carry_types), vec![Type::scalar(DType::I64)]].concat();
        let results = state.push(Op::While(op), args, types, &pos);
        Ok(kept.results(&carries, results, state.top_ref().id))
    }

    /// Opens a function of parameters of these types, to be called.
    pub fn begin_function(&self, types: &[Type], pos: &Pos) -> Vec<Traced> {
        let mut state = self.state.borrow_mut();
        let inside = Builder::new("");
        let params = inside.params(types.iter().cloned());
        let id = state.open(Kind::Function, Place::Function, pos);
        state.top().builder = inside;
        params.into_iter().map(|value| Traced { frame: id, value }).collect()
    }

    /// Closes it with its results. All that it reads must be its parameters or literals, since its derivative says
    /// nothing of others.
    pub fn end_function(&self, results: &[Traced]) -> Result<TracedFunction, Error> {
        let mut state = self.state.borrow_mut();
        let pos = state.top().pos.clone();
        let results = state.resolve_all(results, &pos)?;
        let Kind::Function = &state.top_ref().kind else {
            panic!("front ends nest: `end_function` closes what `begin_function` opened")
        };
        if let Some(capture) = state.top_ref().captured.first() {
            let ty = state.top_ref().builder.ty(capture.inner);
            let message = format!(
                "a function with a derivative of its own reads a value ({ty}) from outside; make it an argument"
            );
            return Err(Error::new(ErrorKind::Argument, pos, message));
        }
        let closed = state.close(results);
        Ok(TracedFunction(state.add(closed.function)))
    }

    /// Calls a function with a derivative of its own; that the parts fit is checked by [`Tracer::finish`].
    pub fn call(
        &self,
        body: TracedFunction,
        rule: TracedRule,
        args: &[Traced],
        pos: &Pos,
    ) -> Result<Vec<Traced>, Error> {
        let mut state = self.state.borrow_mut();
        let args = state.resolve_all(args, pos)?;
        let types = state.functions[usize::from(body.0)].result_types();
        Ok(state.push(Op::Call(CallOp { body: body.0, rule: rule.custom() }), args, types, pos))
    }

    /// Calls a whole Program, such as a derivative of another trace, on these values; returns its results.
    pub fn call_program(&self, program: &Program, args: &[Traced], pos: &Pos) -> Result<Vec<Traced>, Error> {
        let mut state = self.state.borrow_mut();
        let args = state.resolve_all(args, pos)?;
        let (expected, found) = (program.main().param_types(), state.top().builder.types(&args));
        if expected != found {
            let words = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            let message = format!("a function of ({}) is called with ({})", words(&expected), words(&found));
            return Err(Error::new(ErrorKind::Argument, pos.clone(), message));
        }
        let first = state.functions.len();
        let moved = |id: FuncId| FuncId(u32::try_from(first + usize::from(id)).expect("fewer than 2^32 functions"));
        for function in &program.functions {
            let mut function = Function { name: String::new(), ..function.clone() };
            function.insts.iter_mut().for_each(|inst| inst.op.map_bodies(moved));
            state.add(function);
        }
        let call = CallOp { body: moved(program.entry), rule: None };
        Ok(state.push(Op::Call(call), args, program.main().result_types(), pos))
    }

    /// Opens the branch that runs when the predicate holds.
    pub fn begin_if(&self, predicate: Traced, pos: &Pos) -> Result<(), Error> {
        let mut state = self.state.borrow_mut();
        let predicate = state.resolve_all(&[predicate], pos)?[0];
        expect_scalar("the predicate of a branch", &state.top().builder.ty(predicate), DType::Bool, pos)?;
        state.open(Kind::Then { predicate }, Place::Branch, pos);
        Ok(())
    }

    /// Leaves that branch and opens the other; what the first results in is said at the end.
    pub fn begin_else(&self) {
        let mut state = self.state.borrow_mut();
        let Kind::Then { predicate } = state.top().kind else {
            panic!("front ends nest: `begin_else` follows `begin_if`")
        };
        let then_frame = Box::new(state.frames.pop().expect("a branch is open"));
        let (pos, functions_before) = (then_frame.pos.clone(), then_frame.functions_before);
        state.open(Kind::Else { predicate, then_frame }, Place::Branch, &pos);
        state.top().functions_before = functions_before;
    }

    /// Closes both branches with their results; returns the results of the `if`.
    pub fn end_if(&self, then_results: &[Traced], else_results: &[Traced]) -> Result<Vec<Traced>, Error> {
        let present = |results: &[Traced]| results.iter().copied().map(Some).collect::<Vec<_>>();
        self.join(&present(then_results), &present(else_results), &vec![None; then_results.len()])
    }

    /// The same where a branch may have no value for a result, which then is zero there, and where results have an
    /// element type to be converted to.
    pub fn join(
        &self,
        first: &[Option<Traced>],
        second: &[Option<Traced>],
        dtypes: &[Option<DType>],
    ) -> Result<Vec<Traced>, Error> {
        let mut state = self.state.borrow_mut();
        let mut else_frame = state.frames.pop().expect("a branch is open");
        let Kind::Else { predicate, then_frame } = std::mem::replace(&mut else_frame.kind, Kind::Function) else {
            panic!("front ends nest: `end_if` follows `begin_else`")
        };
        let pos = else_frame.pos.clone();
        let type_of = |frame: &Frame, v: &Option<Traced>| {
            v.map(|v| if v.frame == frame.id { frame.builder.ty(v.value) } else { type_in(&state, v) })
        };
        let found: Vec<_> =
            first.iter().map(|v| type_of(&then_frame, v)).zip(second.iter().map(|v| type_of(&else_frame, v))).collect();
        let joined = result_types(&found, dtypes, &pos);
        state.frames.push(*then_frame);
        let joined = joined.and_then(|types| Ok((state.branch_results(first, &types, &pos)?, types)));
        let then_frame = Box::new(state.frames.pop().expect("pushed above"));
        state.frames.push(else_frame);
        let closed = joined.and_then(|(then, types)| Ok((then, state.branch_results(second, &types, &pos)?, types)));
        let (then_results, else_results, types) = match closed {
            Ok(closed) => closed,
            Err(error) => {
                state.top().kind = Kind::Else { predicate, then_frame };
                return Err(error);
            }
        };
        let other = state.close(else_results);
        state.frames.push(*then_frame);
        let then = state.close(then_results);
        let (mut bodies, args) = ([then.function, other.function], unite([&then.captured, &other.captured]));
        for (body, captured) in bodies.iter_mut().zip([then.captured, other.captured]) {
            let outside = &state.top_ref().builder;
            body.params =
                args.iter().map(|(source, outer)| param_for(body, &captured, *source, &outside.ty(*outer))).collect();
        }
        let [then_body, else_body] = bodies.map(|body| state.add(body));
        let args = [vec![predicate], args.into_iter().map(|(_, outer)| outer).collect()].concat();
        Ok(state.push(Op::If(IfOp { then_body, else_body }), args, types, &pos))
    }

    /// Drops the innermost open loop or branch and all that was traced inside it.
    ///
    /// A front end that finds out late that a body has more carries abandons it and traces it again.
    pub fn abandon(&self) {
        let mut state = self.state.borrow_mut();
        assert!(state.frames.len() > 1, "front ends nest: `abandon` needs an open loop or branch");
        let before = state.top().functions_before;
        state.close(vec![]);
        state.functions.truncate(before);
    }

    /// The Program that computes these results, verified.
    pub fn finish(self, results: &[Traced]) -> Result<Program, Error> {
        let mut state = self.state.into_inner();
        assert_eq!(state.frames.len(), 1, "front ends nest: every loop and branch is ended before `finish`");
        let results = state.resolve_all(results, &Pos::unknown())?;
        let closed = state.close(results);
        let entry = state.add(Function { name: state.name.clone(), ..closed.function });
        let program = Program { functions: state.functions, entry };
        verify(&program)?;
        Ok(program)
    }
}

/// A frame that is no longer open.
struct Closed {
    function: Function,
    kind: Kind,
    captured: Vec<Capture>,
}

impl State {
    fn open(&mut self, kind: Kind, place: Place, pos: &Pos) -> u32 {
        let id = u32::try_from(self.history.len()).expect("fewer than 2^32 bodies");
        self.history.push(Remains { place, types: vec![] });
        self.frames.push(Frame {
            id,
            builder: Builder::new(""),
            kind,
            captured: vec![],
            known_as: BTreeMap::new(),
            literals: BTreeMap::new(),
            functions_before: self.functions.len(),
            pos: pos.clone(),
        });
        id
    }

    /// The innermost frame takes what the one before it captured, in its order: both are bodies of one instruction and
    /// get the same arguments.
    fn inherit(&mut self, captured: &[Capture], functions_before: usize) {
        let outside = &self.frames[self.frames.len() - 2].builder;
        let types: Vec<Type> = captured.iter().map(|capture| outside.ty(capture.outer)).collect();
        let frame = self.top();
        frame.functions_before = functions_before;
        for (capture, ty) in captured.iter().zip(types) {
            let inner = frame.builder.param(ty);
            frame.known_as.insert(capture.source, inner);
            frame.captured.push(Capture { inner, ..*capture });
        }
    }

    /// What the results of a branch are in the innermost frame: absent ones are zero, others are converted to their
    /// type.
    fn branch_results(&mut self, results: &[Option<Traced>], types: &[Type], pos: &Pos) -> Result<Vec<Value>, Error> {
        let present: Vec<Traced> = results.iter().copied().flatten().collect();
        let mut values = self.resolve_all(&present, pos)?.into_iter();
        let frame = self.top();
        let value = |(result, ty): (&Option<Traced>, &Type)| match result.and_then(|_| values.next()) {
            None => frame.builder.zeros(ty),
            Some(value) => frame.builder.convert(value, ty.dtype),
        };
        Ok(results.iter().zip(types).map(value).collect())
    }

    /// Ends the innermost frame; its types are remembered, so that a stray value can still be named.
    fn close(&mut self, results: Vec<Value>) -> Closed {
        let frame = self.frames.pop().expect("the entry is open until `finish`");
        let function = frame.builder.finish(results);
        self.history[frame.id as usize].types.clone_from(&function.types);
        Closed { function, kind: frame.kind, captured: frame.captured }
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the entry is open until `finish`")
    }

    fn top_ref(&self) -> &Frame {
        self.frames.last().expect("the entry is open until `finish`")
    }

    /// A closed body becomes a function of the Program; its name is that of the entry and its number.
    fn add(&mut self, function: Function) -> FuncId {
        let number = self.functions.len();
        let name = if function.name.is_empty() { format!("{}_{number}", self.name) } else { function.name };
        self.functions.push(Function { name, ..function });
        FuncId(u32::try_from(number).expect("fewer than 2^32 functions"))
    }

    fn push(&mut self, op: Op, args: Vec<Value>, types: Vec<Type>, pos: &Pos) -> Vec<Traced> {
        let frame = self.top();
        frame.builder.set_pos(pos);
        frame.builder.push(op, args, types).into_iter().map(|value| Traced { frame: frame.id, value }).collect()
    }

    fn literal(&self, v: Traced) -> Option<Array> {
        self.frames.iter().find(|frame| frame.id == v.frame)?.literals.get(&v.value).cloned()
    }

    /// What these values are in the innermost frame. Nothing is captured unless all of them can be.
    fn resolve_all(&mut self, values: &[Traced], pos: &Pos) -> Result<Vec<Value>, Error> {
        for v in values {
            self.check_open(*v, pos)?;
        }
        self.top().builder.set_pos(pos);
        let depth = self.frames.len() - 1;
        Ok(values.iter().map(|v| self.resolve(*v, depth)).collect())
    }

    fn check_open(&self, v: Traced, pos: &Pos) -> Result<(), Error> {
        if self.frames.iter().any(|frame| frame.id == v.frame) {
            return Ok(());
        }
        let message = match self.history.get(v.frame as usize).map(|remains| remains.place) {
            Some(Place::LoopBody) => "a value made inside a loop body was used outside it; return it from the body",
            Some(Place::Function) => "a value made inside a function was used outside it; return it from the function",
            Some(Place::Branch) => "a value made inside a branch was used outside it; return it from the branch",
            Some(Place::Entry) | None => "a value of another trace was used; make it an argument of the function",
        };
        Err(Error::new(ErrorKind::Argument, pos.clone(), message))
    }

    /// What an open value is in the frame at a depth: captured by every frame in between, or written again where it is
    /// a literal.
    fn resolve(&mut self, v: Traced, depth: usize) -> Value {
        let frame = &self.frames[depth];
        if frame.id == v.frame {
            return v.value;
        }
        if let Some(value) = frame.known_as.get(&v) {
            return *value;
        }
        let value = match self.literal(v) {
            Some(literal) => self.frames[depth].literal(literal),
            None => self.capture(v, depth),
        };
        self.frames[depth].known_as.insert(v, value);
        value
    }

    fn capture(&mut self, source: Traced, depth: usize) -> Value {
        let outer = self.resolve(source, depth - 1);
        let ty = self.frames[depth - 1].builder.ty(outer);
        let frame = &mut self.frames[depth];
        let inner = frame.builder.param(ty);
        frame.captured.push(Capture { source, outer, inner });
        inner
    }
}

impl Frame {
    /// The frame, and that of a first branch that waits for it.
    fn with_waiting(&self) -> impl Iterator<Item = &Frame> {
        let waiting = match &self.kind {
            Kind::Else { then_frame, .. } => Some(&**then_frame),
            Kind::Entry
            | Kind::For(_)
            | Kind::Condition { .. }
            | Kind::While { .. }
            | Kind::Function
            | Kind::Then { .. } => None,
        };
        std::iter::once(self).chain(waiting)
    }

    fn literal(&mut self, array: Array) -> Value {
        let value = self.builder.constant(array.clone());
        if array.len() <= SMALL_LITERAL {
            self.literals.insert(value, array);
        }
        value
    }
}

/// An instruction over known integers: what it computes is known too, so that `n - 1` can count a loop that emits
/// streams.
struct KnownInst {
    def: &'static OpDef,
    attrs: Attrs,
    args: Vec<Array>,
}

fn integers(def: &'static OpDef, attrs: &Attrs, args: &[Value], frame: &Frame) -> Option<KnownInst> {
    let args: Vec<Array> = args.iter().map(|v| frame.literals.get(v).cloned()).collect::<Option<_>>()?;
    args.iter().all(|array| array.dtype() == DType::I64).then(|| KnownInst { def, attrs: attrs.clone(), args })
}

impl KnownInst {
    fn eval(&self, ty: &Type) -> Option<Array> {
        if ty.dtype != DType::I64 || ty.elements() > SMALL_LITERAL {
            return None;
        }
        // A fault, such as a division by zero, is reported by the run, if the run gets there.
        (self.def.eval)(self.def, &self.args.iter().collect::<Vec<_>>(), &self.attrs, ty).ok()
    }
}

/// The common number of rows of all streams (`None` without streams), and the types of their rows.
fn rows_of(streams: &[Type], pos: &Pos) -> Result<(Option<usize>, Vec<Type>), Error> {
    let extent = streams.first().and_then(|ty| ty.shape.first()).copied();
    let row = |(k, ty): (usize, &Type)| match ty.row() {
        Some(row) if ty.shape.first().copied() == extent => Ok(row),
        Some(_) => Err(format!(
            "stream {k} of the loop is {ty}, but stream 0 is {}; streams have equally many rows",
            streams[0]
        )),
        None => Err(format!("stream {k} of the loop is the scalar {ty}; streams are read row by row")),
    };
    let rows: Result<Vec<Type>, String> = streams.iter().enumerate().map(row).collect();
    Ok((extent, rows.map_err(|message| Error::new(ErrorKind::Shape, pos.clone(), message))?))
}

/// The number of rows of emitted streams: that of the streams read, else the count, which must then be known.
fn bound_of_emitted(open: &Loop, pos: &Pos) -> Result<usize, Error> {
    open.extent.or(open.count_known).ok_or_else(|| {
        let message = "a loop that emits streams needs a count that is known while tracing; make the count a constant";
        Error::new(ErrorKind::Unsupported, pos.clone(), message)
    })
}

fn check_carries(expected: &[Type], found: &[Type], pos: &Pos) -> Result<(), Error> {
    if expected.len() != found.len() {
        let message = format!("the body of a loop over {} carries returned {}", expected.len(), found.len());
        return Err(Error::new(ErrorKind::Argument, pos.clone(), message));
    }
    match (0..expected.len()).find(|k| expected[*k] != found[*k]) {
        None => Ok(()),
        Some(k) => {
            let message = format!(
                "carry {k} changes its type in the loop: expected {}, as at its start, found {} at the end of the body",
                expected[k], found[k]
            );
            Err(Error::new(mismatch(&expected[k], &found[k]), pos.clone(), message))
        }
    }
}

/// Which carries of a loop change; the others are passed on as they are, and are invariants of the loop.
struct Kept {
    changes: Vec<bool>,
}

impl Kept {
    /// Takes what is passed on from the results of a body to what it captured.
    fn of(carries: &[Value], params: &[Value], results: &mut Vec<Value>, captured: &mut Vec<Capture>) -> Kept {
        let changes: Vec<bool> = params.iter().zip(results.iter()).map(|(param, next)| param != next).collect();
        let emitted = results.split_off(params.len());
        let mut change = changes.iter();
        results.retain(|_| *change.next().expect("a result per carry"));
        results.extend(emitted);
        for k in (0..params.len()).filter(|k| !changes[*k]) {
            // Nothing is looked up by its source once the body is closed.
            captured.push(Capture {
                source: Traced { frame: u32::MAX, value: params[k] },
                outer: carries[k],
                inner: params[k],
            });
        }
        Kept { changes }
    }

    fn carries<T: Clone>(&self, all: &[T]) -> Vec<T> {
        all.iter().zip(&self.changes).filter(|(_, changes)| **changes).map(|(item, _)| item.clone()).collect()
    }

    fn passed<T: Clone>(&self, all: &[T]) -> Vec<T> {
        all.iter().zip(&self.changes).filter(|(_, changes)| !**changes).map(|(item, _)| item.clone()).collect()
    }

    /// The results of the loop, one per carry, then the rest; a carry that is passed on results in its start.
    fn results(&self, starts: &[Value], made: Vec<Traced>, frame: u32) -> Vec<Traced> {
        let mut made = made.into_iter();
        let carried = starts.iter().zip(&self.changes).map(|(start, changes)| match changes {
            true => made.next().expect("a result per carry that changes"),
            false => Traced { frame, value: *start },
        });
        let carried: Vec<Traced> = carried.collect();
        carried.into_iter().chain(made).collect()
    }
}

fn type_in(state: &State, v: Traced) -> Type {
    match state.frames.iter().find(|frame| frame.id == v.frame) {
        Some(frame) => frame.builder.ty(v.value),
        None => state.history[v.frame as usize].types[v.value.0 as usize].clone(),
    }
}

/// The types that two branches result in together.
fn result_types(
    found: &[(Option<Type>, Option<Type>)],
    dtypes: &[Option<DType>],
    pos: &Pos,
) -> Result<Vec<Type>, Error> {
    let joined = |k: usize| {
        let (pair, dtype) = (&found[k], &dtypes[k]);
        let converted = |ty: &Type| dtype.map_or_else(|| ty.clone(), |dtype| Type { dtype, ..ty.clone() });
        match (pair.0.as_ref().map(converted), pair.1.as_ref().map(converted)) {
            (Some(a), Some(b)) if a == b => Ok(a),
            (Some(a), Some(b)) => {
                let message = format!("result {k} of the branches differs: {a} in the first, {b} in the second");
                Err(Error::new(mismatch(&a, &b), pos.clone(), message))
            }
            (Some(ty), None) | (None, Some(ty)) => Ok(ty),
            (None, None) => panic!("front ends join values: a result that neither branch has is none"),
        }
    };
    (0..found.len()).map(joined).collect()
}

/// What two bodies captured, once each: the value as it was read, and as it is around them.
fn unite(captured: [&[Capture]; 2]) -> Vec<(Traced, Value)> {
    let mut all: Vec<(Traced, Value)> = vec![];
    for capture in captured.into_iter().flatten() {
        if !all.iter().any(|(source, _)| *source == capture.source) {
            all.push((capture.source, capture.outer));
        }
    }
    all
}

/// The parameter of a body for what it captured, or one that it does not read.
fn param_for(body: &mut Function, captured: &[Capture], source: Traced, ty: &Type) -> Value {
    match captured.iter().find(|capture| capture.source == source) {
        Some(capture) => capture.inner,
        None => {
            body.types.push(ty.clone());
            last_value(&body.types)
        }
    }
}

/// Which kind of error two different types are.
fn mismatch(a: &Type, b: &Type) -> ErrorKind {
    if a.dtype == b.dtype { ErrorKind::Shape } else { ErrorKind::DType }
}

impl Tracer {
    /// What is not a scalar of that type is a mistake.
    pub(crate) fn expect_scalar(&self, what: &str, v: Traced, dtype: DType, pos: &Pos) -> Result<(), Error> {
        expect_scalar(what, &self.ty(v), dtype, pos)
    }
}

fn expect_scalar(what: &str, found: &Type, dtype: DType, pos: &Pos) -> Result<(), Error> {
    let expected = Type::scalar(dtype);
    if *found == expected {
        return Ok(());
    }
    Err(Error::new(mismatch(found, &expected), pos.clone(), format!("{what} must be a scalar {dtype}, found {found}")))
}

fn last_value(types: &[Type]) -> Value {
    Value(u32::try_from(types.len() - 1).expect("fewer than 2^32 values"))
}
