//! What is said of mistakes: every kind of error in a table with its whole message, which names the op, the line and
//! what would fit.

use std::sync::Arc;

use retrograd_compiler::ir::{self, Array, Attrs, Builder, Error, OpDef, Pos, Program, Rule, Type};
use retrograd_compiler::plan::strategy::Auto;
use retrograd_compiler::plan::{Request, plan};
use retrograd_compiler::{diff, eval, ops};
use retrograd_testing::native::Native;

/// What is asked of a text.
#[derive(Clone, Copy)]
enum Asked {
    /// Reading and verifying it.
    Reading,
    /// Its gradient.
    Gradient,
    /// The derivative in a direction.
    Tangent,
    /// The gradient, planned within so many bytes.
    Budget(u64),
    /// A run of the interpreter and of machine code on these numbers, which are i64 where they have no point.
    Run(&'static [&'static str]),
}

fn outcome(text: &str, asked: Asked) -> Result<(), Error> {
    let program = ops::parse(text, "it.rg")?;
    ir::verify(&program)?;
    let gradient = || diff::vjp(&program, &[0], &[0]);
    match asked {
        Asked::Reading => Ok(()),
        Asked::Gradient => gradient().map(drop),
        Asked::Tangent => diff::jvp(&program, &[0], &[0]).map(drop),
        Asked::Budget(bytes) => {
            plan(&gradient()?, &Request { budget: Some(bytes), ..Request::by(Arc::new(Auto)) }).map(drop)
        }
        Asked::Run(inputs) => {
            let inputs = inputs.iter().map(|text| text.parse()).collect::<Result<Vec<Array>, Error>>()?;
            let error = eval::run(&program, &inputs).map(drop);
            if let Err(error) = &error
                && inputs.iter().map(Array::ty).eq(program.main().param_types())
            {
                let native = Native::new(&program, Arc::new(Auto), None)?;
                native
                    .check_fault(&inputs, error)
                    .unwrap_or_else(|message| panic!("machine code says the same: {message}"));
            }
            error
        }
    }
}

#[track_caller]
fn check(table: &[(&str, Asked, &str)]) {
    for (text, asked, expected) in table {
        let found = outcome(text, *asked).expect_err("a mistake is refused").to_string();
        assert_eq!(found, *expected, "of\n{text}");
    }
}

/// A function of one instruction.
macro_rules! one {
    ($params:literal, $result:literal, $inst:literal) => {
        concat!("fn main(", $params, ") -> ", $result, " {\n  %9: ", $result, " = ", $inst, "\n  return %9\n}\n")
    };
}

#[test]
fn shapes() {
    check(&[
        (
            one!("%0: f64[3], %1: f64[4]", "f64[3]", "add %0, %1"),
            Asked::Reading,
            "it.rg:2: shape error: %2 in `main`: `add` needs equal shapes, found f64[3] and f64[4]",
        ),
        (
            one!("%0: f64[2,3]", "f64[4]", "reshape %0 {shape=[4]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `reshape` cannot make shape [4] of the 6 elements of f64[2,3]",
        ),
        (
            one!(
                "%0: f64[2,3], %1: f64[2]",
                "f64[2]",
                "dot %0, %1 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}"
            ),
            Asked::Reading,
            "it.rg:2: shape error: %2 in `main`: `dot` cannot contract axes [1] of f64[2,3] with axes [0] of f64[2]",
        ),
        (
            one!("%0: f64[2], %1: f64[3,2]", "f64[5]", "concat %0, %1 {axis=[0]}"),
            Asked::Reading,
            "it.rg:2: shape error: %2 in `main`: `concat` cannot join f64[2] and f64[3,2] along axis 0",
        ),
        (
            one!("%0: f64[3]", "f64[4]", "sin %0"),
            Asked::Reading,
            "it.rg:2: invalid program: %1 in `main`: `sin` gives f64[3], found f64[4]",
        ),
    ]);
}

#[test]
fn element_types() {
    check(&[
        (
            one!("%0: f64, %1: i64", "f64", "add %0, %1"),
            Asked::Reading,
            "it.rg:2: type error: %2 in `main`: `add` needs equal element types, found f64 and i64",
        ),
        (
            one!("%0: i64", "i64", "sin %0"),
            Asked::Reading,
            "it.rg:2: type error: %1 in `main`: `sin` does not take i64",
        ),
        (
            one!("%0: f64[3], %1: f64[2]", "f64[2]", "gather %0, %1 {axis=[0]}"),
            Asked::Reading,
            "it.rg:2: type error: %2 in `main`: `gather` takes indices of i64, found f64[2]",
        ),
        (
            one!("%0: f64[3]", "bool", "any %0 {axes=[0]}"),
            Asked::Reading,
            "it.rg:2: type error: %1 in `main`: `any` takes bool, found f64[3]",
        ),
    ]);
}

#[test]
fn ranks() {
    check(&[
        (
            one!("%0: f64", "f64[1,1,1,1,1,1,1,1,1]", "reshape %0 {shape=[1,1,1,1,1,1,1,1,1]}"),
            Asked::Reading,
            "it.rg:2: unsupported: %1 in `main`: f64[1,1,1,1,1,1,1,1,1] has 9 axes; at most 8 are supported",
        ),
        (
            one!("%0: f64[2,3]", "f64[3,2]", "transpose %0 {axes=[1]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `transpose` needs every axis of f64[2,3] once, found [1]",
        ),
        (
            one!("%0: f64[2,3], %1: i64", "f64[1]", "dynamic_slice %0, %1 {sizes=[1], step=[1]}"),
            Asked::Reading,
            "it.rg:2: shape error: %2 in `main`: `dynamic_slice` needs one i64 index per axis of f64[2,3], found 1 \
             indices",
        ),
        (
            one!("%0: f64[2,3], %1: i64[2]", "f64[2]", "take_along_axis %0, %1 {axis=[0]}"),
            Asked::Reading,
            "it.rg:2: shape error: %2 in `main`: `take_along_axis` along axis 0 of f64[2,3] does not fit indices of \
             i64[2]",
        ),
    ]);
}

#[test]
fn axes() {
    check(&[
        (
            one!("%0: f64[2,3]", "f64[2]", "sum %0 {axes=[2]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `sum` over axes [2] does not fit f64[2,3]",
        ),
        (
            one!("%0: f64[2,3]", "f64", "sum %0 {axes=[0,0]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `sum` over axes [0, 0] does not fit f64[2,3]",
        ),
        (
            one!("%0: f64[2,3]", "f64[2,3]", "cumsum %0 {axis=[2]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `cumsum` needs one axis of f64[2,3], found [2]",
        ),
        (
            one!("%0: f64[2,3]", "f64[2,3]", "reverse %0 {axes=[5]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `reverse` over axes [5] does not fit f64[2,3]",
        ),
        (
            one!("%0: f64[2,3]", "f64[3,2]", "transpose %0 {axes=[1,1]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `transpose` needs every axis of f64[2,3] once, found [1, 1]",
        ),
    ]);
}

#[test]
fn indices() {
    check(&[
        (
            one!("%0: f64[3]", "f64[2]", "slice %0 {start=[2], stop=[4], step=[1]}"),
            Asked::Reading,
            "it.rg:2: shape error: %1 in `main`: `slice` from [2] to [4] by [1] does not fit f64[3]",
        ),
        (
            one!("%0: f64[3], %1: i64", "f64[4]", "dynamic_slice %0, %1 {sizes=[4], step=[1]}"),
            Asked::Reading,
            "it.rg:2: shape error: %2 in `main`: `dynamic_slice`: a window of shape [4] by [1] does not fit f64[3]",
        ),
        (
            one!("%0: f64[3], %1: i64", "f64[2]", "dynamic_slice %0, %1 {sizes=[2], step=[1]}"),
            Asked::Run(&["f64[3] [1.0, 2.0, 3.0]", "2"]),
            "it.rg:2: index out of bounds: in `dynamic_slice`",
        ),
        (
            one!("%0: f64[3], %1: f64[1], %2: i64", "f64[3]", "update %0, %1, %2 {step=[1]}"),
            Asked::Run(&["f64[3] [1.0, 2.0, 3.0]", "f64[1] [1.0]", "-1"]),
            "it.rg:2: index out of bounds: in `update`",
        ),
    ]);
}

#[test]
fn texts() {
    check(&[
        (
            one!("%0: f64", "f64", "sine %0"),
            Asked::Reading,
            "it.rg:2: parse error: unknown op `sine`; did you mean `sin`?",
        ),
        (one!("%0: f64", "f64", "neg %1"), Asked::Reading, "it.rg:2: parse error: `%1` is read before it is defined"),
        (
            one!("%0: f64", "f64", "sum %0 {axis=[0]}"),
            Asked::Reading,
            "it.rg:2: parse error: `sum` has no attribute `axis`; it has axes, exact",
        ),
        (
            "fn main(%0: f64) -> f64 {\n  return %0\n",
            Asked::Reading,
            "it.rg:3: parse error: expected `}`, found the end of the text",
        ),
    ]);
}

#[test]
fn arguments() {
    check(&[
        (
            one!("%0: f64, %1: f64", "f64", "neg %0, %1"),
            Asked::Reading,
            "it.rg:2: invalid program: %2 in `main`: `neg` takes 1 arguments, found 2",
        ),
        (
            one!("%0: f64[2]", "f64[2]", "neg %0"),
            Asked::Run(&["1.0"]),
            "argument error: expected inputs f64[2], found f64",
        ),
        (one!("%0: f64", "f64", "neg %0"), Asked::Run(&[]), "argument error: expected inputs f64, found none"),
        (one!("%0: i64", "i64", "neg %0"), Asked::Gradient, "type error: input 0 is i64; only floats have derivatives"),
    ]);
}

#[test]
fn faults_of_a_run() {
    check(&[
        (
            one!("%0: i64, %1: i64", "i64", "div %0, %1"),
            Asked::Run(&["1", "0"]),
            "it.rg:2: integer division by zero: in `div`",
        ),
        (
            FOR_OF_STREAM,
            Asked::Run(&["3", "f64[2] [1.0, 2.0]"]),
            "it.rg:2: index out of bounds: a loop of 3 steps over streams of 2 rows",
        ),
    ]);
}

/// A loop over a stream of two rows.
const FOR_OF_STREAM: &str = "fn main(%0: i64, %1: f64[2]) -> f64[2] {
  %2: f64[2] = for %0 streams(%1) {body=step, bound=2}
  return %2
}
fn step(%0: i64, %1: f64) -> f64 {
  %2: f64 = sin %1
  return %2
}
";

#[test]
fn what_does_not_fit_the_budget() {
    check(&[(
        one!("%0: f64[100]", "f64[100]", "sin %0"),
        Asked::Budget(799),
        "over budget: the budget is 799 bytes; the smallest that this strategy can work with is 1.63 kB (1632 bytes), \
         with 1.0 times the work of its plan without a budget",
    )]);
}

#[test]
fn what_is_not_supported() {
    check(&[(
        CUSTOM_VJP,
        Asked::Tangent,
        "it.rg:2: unsupported: `f` has a custom_vjp, which forward mode cannot use; give it a custom_jvp, which \
         serves both modes",
    )]);
}

const CUSTOM_VJP: &str = "fn main(%0: f64) -> f64 {
  %1: f64 = call args(%0) {body=f, forward=f, backward=b}
  return %1
}
fn f(%0: f64) -> f64 {
  return %0
}
fn b(%0: f64) -> f64 {
  return %0
}
";

/// A row that nobody can differentiate, at a line of the user.
#[test]
fn a_rule_that_is_missing() {
    let row: &'static OpDef = Box::leak(Box::new(OpDef { name: "mystery", rule: Rule::Missing, ..ops::SORT }));
    let b = Builder::new("main");
    let x = b.param(Type::f64([3]));
    b.set_pos(&Pos::new("model.py", 7));
    let y = b.op(row, Attrs::none().ints("axis", [0]), &[x]);
    let program = Program::new(b.finish(vec![y]));
    let expected = "model.py:7: missing derivative rule: `mystery` has no derivative rule; give it one, or keep it \
                    away from what is differentiated";
    for derived in [diff::jvp(&program, &[0], &[0]), diff::vjp(&program, &[0], &[0])] {
        assert_eq!(derived.expect_err("a missing rule is an error, never a zero").to_string(), expected);
    }
}
