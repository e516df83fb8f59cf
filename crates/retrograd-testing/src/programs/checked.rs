//! Random Programs with checks in them: some hold, some fail, some fail in a later step of a loop.

use std::collections::BTreeSet;

use retrograd_compiler::ir::{Array, Attr, Attrs, DType, FuncId, Function, Inst, Op, OpDef, Pos, Program, Type, Value};
use retrograd_compiler::ops;

use super::Case;
use crate::Random;

/// The case with checks in some of its functions, each with a line and a message of its own. What only computes the
/// states of an adjoint gets none: it is run again wherever the plan says so.
///
/// ```
/// use retrograd_compiler::ir;
/// use retrograd_testing::programs::{Case, checked};
/// assert!(ir::verify(&checked(&Case::random(7)).program).is_ok());
/// ```
pub fn checked(case: &Case) -> Case {
    let (mut random, mut program) = (Random::new(!case.seed), case.program.clone());
    let (silent, mut line) = (replayed(&program), 0);
    for (id, function) in program.functions.iter_mut().enumerate() {
        let most = if silent.contains(&FuncId(id as u32)) { 0 } else { 2 };
        for _ in 0..random.below(most + 1) {
            line += 1;
            insert(function, &mut random, line);
        }
    }
    Case { program, ..case.clone() }
}

/// Functions that the bodies of unwinds run.
fn replayed(program: &Program) -> BTreeSet<FuncId> {
    let insts = program.functions.iter().flat_map(|function| &function.insts);
    let bodies = insts.filter_map(|inst| if let Op::Unwind(op) = &inst.op { Some(op.body) } else { None });
    let (mut found, mut open) = (BTreeSet::new(), bodies.collect::<Vec<FuncId>>());
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(program.function(id).insts.iter().flat_map(Inst::bodies));
        }
    }
    found
}

/// A check of one of the values that are there at some place of a function.
fn insert(function: &mut Function, random: &mut Random, line: u32) {
    let at = random.below(function.insts.len() + 1);
    let there: Vec<Value> =
        function.params.iter().chain(function.insts[..at].iter().flat_map(|inst| &inst.results)).copied().collect();
    if there.is_empty() {
        return;
    }
    let value = there[random.below(there.len())];
    let (ty, mut code) =
        (function.ty(value).clone(), Code { function, insts: vec![], pos: Pos::new("checks.rg", line) });
    let condition = match ty.dtype {
        DType::Bool => value,
        DType::I32 | DType::I64 => code.compare(&ops::NE, value, &ty, [0.0, 1.0, 2.0, 5.0, 40.0][random.below(5)]),
        DType::F32 | DType::F64 => {
            code.compare(&ops::LT, value, &ty, [0.1717, 0.7171, 1.7171, 7.1717][random.below(4)])
        }
    };
    // Truths fail too often as they are.
    let condition =
        if ty.dtype == DType::Bool && random.below(2) == 0 { code.at_all(condition, &ty) } else { condition };
    let text = |name: &'static str, attrs: Attrs, text: String| attrs.with(name, Attr::Text(text));
    let attrs = text(
        "tag",
        text("message", Attrs::none(), format!("check {line}")),
        ["", "ValueError"][line as usize % 2].to_owned(),
    );
    code.push(&ops::CHECK, attrs, vec![condition], Type::scalar(DType::Bool));
    let insts = code.insts;
    function.insts.splice(at..at, insts);
}

/// Instructions that are about to be part of a function.
struct Code<'f> {
    function: &'f mut Function,
    insts: Vec<Inst>,
    pos: Pos,
}

impl Code<'_> {
    fn push(&mut self, def: &'static OpDef, attrs: Attrs, args: Vec<Value>, ty: Type) -> Value {
        let result = Value(self.function.types.len() as u32);
        self.function.types.push(ty);
        self.insts.push(Inst { op: Op::Def(def, attrs), args, results: vec![result], pos: self.pos.clone() });
        result
    }

    fn literal(&mut self, array: Array, ty: &Type) -> Value {
        let value =
            self.push(&ops::CONSTANT, Attrs::none().with("value", Attr::Array(array)), vec![], Type::scalar(ty.dtype));
        let attrs = Attrs::none().ints("shape", ty.shape.clone()).ints("axes", []);
        self.push(&ops::BROADCAST, attrs, vec![value], ty.clone())
    }

    fn compare(&mut self, def: &'static OpDef, value: Value, ty: &Type, bound: f64) -> Value {
        let bound = self.literal(Array::number(ty.dtype, bound), ty);
        self.push(def, Attrs::none(), vec![value, bound], Type::new(DType::Bool, ty.shape.clone()))
    }

    /// Whether any element holds, or there is none.
    fn at_all(&mut self, value: Value, ty: &Type) -> Value {
        let any =
            self.push(&ops::ANY, Attrs::none().ints("axes", 0..ty.rank()), vec![value], Type::scalar(DType::Bool));
        self.push(&ops::OR, Attrs::none(), vec![any, any], Type::scalar(DType::Bool))
    }
}
