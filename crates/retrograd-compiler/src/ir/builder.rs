//! Builds functions, one instruction at a time, with inferred types.

use std::cell::{Cell, Ref, RefCell};

use super::attr::Attrs;
use super::error::{Error, ErrorKind, Part, Pos};
use super::op_def::OpDef;
use super::program::{FuncId, Function, Inst, Op, Value};
use super::types::Type;
use super::verify::mistake;

/// A function under construction. Methods take `&self`, so that expressions ([`Expr`]) can share it.
#[derive(Debug)]
pub struct Builder {
    function: RefCell<Function>,
    pos: RefCell<Pos>,
    part: Cell<Part>,
}

impl Builder {
    /// An empty function.
    pub fn new(name: impl Into<String>) -> Builder {
        let function = Function { name: name.into(), params: vec![], insts: vec![], results: vec![], types: vec![] };
        Builder { function: RefCell::new(function), pos: RefCell::default(), part: Cell::default() }
    }

    /// Instructions from now on carry this position.
    pub fn set_pos(&self, pos: &Pos) {
        *self.pos.borrow_mut() = pos.clone();
    }

    /// The position that instructions now get.
    pub fn pos(&self) -> Pos {
        self.pos.borrow().clone()
    }

    /// What `build` adds belongs to that part.
    pub fn within<T>(&self, part: Part, build: impl FnOnce() -> T) -> T {
        let before = self.part.replace(self.part.get().max(part));
        let built = build();
        self.part.set(before);
        built
    }

    /// A new parameter.
    pub fn param(&self, ty: Type) -> Value {
        let value = self.define(ty);
        self.function.borrow_mut().params.push(value);
        value
    }

    /// New parameters.
    pub fn params(&self, types: impl IntoIterator<Item = Type>) -> Vec<Value> {
        types.into_iter().map(|ty| self.param(ty)).collect()
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.function.borrow().ty(value).clone()
    }

    /// Types of values.
    pub fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|v| self.ty(*v)).collect()
    }

    /// An instruction of the op table; the user's mistake is an error at the current position.
    pub fn try_row(&self, def: &'static OpDef, attrs: Attrs, args: &[Value]) -> Result<Value, Error> {
        let types = self.types(args);
        if let Some(arity) = def.arity
            && arity != args.len()
        {
            let message = format!("`{}` takes {arity} arguments, found {}", def.name, args.len());
            return Err(Error::new(ErrorKind::Argument, self.pos(), message));
        }
        if let Some(mistake) = mistake(def, &attrs) {
            return Err(Error::new(ErrorKind::Argument, self.pos(), format!("`{}` {mistake}", def.name)));
        }
        let ty = (def.infer)(def, &types, &attrs).map_err(|error| error.at(&self.pos()))?;
        ty.check().map_err(|error| {
            Error { message: format!("`{}`: {}", def.name, error.message), ..error }.at(&self.pos())
        })?;
        Ok(self.push(Op::Def(def, attrs), args.to_vec(), vec![ty])[0])
    }

    /// An instruction that a pass of ours builds: types that do not fit are our bug.
    pub fn op(&self, def: &'static OpDef, attrs: Attrs, args: &[Value]) -> Value {
        self.try_row(def, attrs, args).unwrap_or_else(|error| panic!("built instructions are well typed: {error}"))
    }

    /// An instruction with given result types.
    pub fn push(&self, op: Op, args: Vec<Value>, types: Vec<Type>) -> Vec<Value> {
        let results: Vec<Value> = types.into_iter().map(|ty| self.define(ty)).collect();
        let inst = Inst { op, args, results: results.clone(), pos: self.pos().in_part(self.part.get()) };
        self.function.borrow_mut().insts.push(inst);
        results
    }

    /// An existing instruction over new arguments: same op, position and result types.
    pub fn copy(&self, from: &Function, inst: &Inst, args: Vec<Value>) -> Vec<Value> {
        self.set_pos(&inst.pos);
        self.push(inst.op.clone(), args, inst.results.iter().map(|v| from.ty(*v).clone()).collect())
    }

    /// All instructions of another function over these arguments; returns its results.
    pub fn inline(&self, function: &Function, args: &[Value]) -> Vec<Value> {
        let mut map = self.map(function, args);
        for inst in &function.insts {
            let args = inst.args.iter().map(|v| map[v.0 as usize].expect("SSA: defined before use")).collect();
            let results = self.copy(function, inst, args);
            for (old, new) in inst.results.iter().zip(results) {
                map[old.0 as usize] = Some(new);
            }
        }
        function.results.iter().map(|v| map[v.0 as usize].expect("SSA: results are defined")).collect()
    }

    /// A map from the values of another function to values here, with its parameters bound.
    pub fn map(&self, function: &Function, args: &[Value]) -> Vec<Option<Value>> {
        assert_eq!(function.params.len(), args.len(), "a body gets as many arguments as it has parameters");
        let mut map = vec![None; function.types.len()];
        for (param, arg) in function.params.iter().zip(args) {
            map[param.0 as usize] = Some(*arg);
        }
        map
    }

    /// The instructions so far.
    pub fn insts(&self) -> Ref<'_, [Inst]> {
        Ref::map(self.function.borrow(), |function| &function.insts[..])
    }

    /// Another op for an instruction, over the same arguments and results.
    pub fn set_op(&self, inst: usize, op: Op) {
        self.function.borrow_mut().insts[inst].op = op;
    }

    /// The function, with these results.
    pub fn finish(self, results: Vec<Value>) -> Function {
        let mut function = self.function.into_inner();
        function.results = results;
        function
    }

    fn define(&self, ty: Type) -> Value {
        let mut function = self.function.borrow_mut();
        function.types.push(ty);
        Value(u32::try_from(function.types.len() - 1).expect("fewer than 2^32 values"))
    }
}

/// A value in a function under construction: operators and methods add instructions. Derivative rules are written with
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'b> {
    /// The function under construction.
    pub builder: &'b Builder,
    /// The value.
    pub value: Value,
}

impl<'b> Expr<'b> {
    /// A value as an expression.
    pub fn new(builder: &'b Builder, value: Value) -> Expr<'b> {
        Expr { builder, value }
    }
}

/// A function's place in its Program.
impl From<FuncId> for usize {
    fn from(id: FuncId) -> usize {
        id.0 as usize
    }
}
