//! The ops with an effect. What is run again for an adjoint has none of them: it computes the same values, which were
//! shown and checked already.

use super::ops;
use super::shape::view;
use crate::ir::{Array, Attr, Attrs, DType, Data, Error, ErrorKind, Lowering, OpDef, Pos, Rule, Sample, Type, View};

ops! {
    /// Shows its argument, under a name, to whoever observes the run; its result is always true. Loops that are run again for their adjoint show nothing.
    PROBE = OpDef { attrs: &["name"], infer: |_, _, _| Ok(Type::scalar(DType::Bool)), eval: |_, _, _, _| Ok(Array::bool(true)), rule: Rule::Zero, lowering: Lowering::Probe, samples, ..view("probe", View::Reshape, &[]) };
    /// Ends the run with a message, unless all of its argument holds; its result is always true. The tag, which may be empty, says what kind of failure it is, for whoever handles the error.
    CHECK = OpDef { attrs: &["message", "tag"], infer: infer_check, eval: eval_check, rule: Rule::Zero, lowering: Lowering::Check, samples: check_samples, condition: all_hold, ..view("check", View::Reshape, &[]) };
}

fn infer_check(def: &OpDef, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    match types[0].dtype {
        DType::Bool => Ok(Type::scalar(DType::Bool)),
        DType::F32 | DType::F64 | DType::I32 | DType::I64 => {
            let message = format!("`{}` needs a condition of the type bool, found {}", def.name, types[0]);
            Err(Error::new(ErrorKind::DType, Pos::unknown(), message))
        }
    }
}

fn eval_check(_: &OpDef, args: &[&Array], attrs: &Attrs, _: &Type) -> Result<Array, ErrorKind> {
    match args[0].as_bool().iter().all(|holds| *holds) {
        true => Ok(Array::bool(true)),
        false => Err(ErrorKind::Check { tag: attrs.text("tag").to_owned() }),
    }
}

fn samples(def: &OpDef) -> Vec<Sample> {
    let sample = |ty: Type| Sample {
        args: vec![(ty, def.domain[0])],
        attrs: Attrs::none().with("name", Attr::Text("x".into())),
    };
    vec![
        sample(Type::f64([])),
        sample(Type::f64([2, 3])),
        sample(Type::new(DType::I64, [2])),
        sample(Type::scalar(DType::Bool)),
    ]
}

fn all_hold(args: &mut [Array]) {
    args[0] = Array::new(args[0].shape(), Data::Bool(vec![true; args[0].len()]));
}

fn check_samples(def: &OpDef) -> Vec<Sample> {
    let text = |name: &'static str, attrs: Attrs, text: &str| attrs.with(name, Attr::Text(text.into()));
    let attrs = text("tag", text("message", Attrs::none(), "x must hold"), "ValueError");
    let sample =
        |shape: &[usize]| Sample { args: vec![(Type::new(DType::Bool, shape), def.domain[0])], attrs: attrs.clone() };
    vec![sample(&[]), sample(&[5]), sample(&[2, 3]), sample(&[0])]
}
