//! Functions of the host, and what a gradient makes of them: their results are kept, and cut off from what is
//! differentiated.

use super::build::routine;
use super::ops;
use super::shape::view;
use crate::ir::{
    Attrs, By, DType, Error, ErrorKind, Lowering, OpDef, Pos, Routine, Rule, Sample, Type, View, call_host,
};

ops! {
    /// What the function of the host with this number gives for the arguments, of this type; the first element of the result is 0 where nothing went wrong. It is called as often as it is written, never again for an adjoint.
    EXTERNAL = external("external", By::Host);
    /// The same of a function that gives the same result for the same arguments, so that it may be called again.
    PURE_EXTERNAL = external("pure_external", By::PureHost);
    /// Its last argument, which is what a function of the host gave for the others before: an adjoint reads that instead of calling again. It has no derivative, as the function has none.
    RECORDED = OpDef { arity: None, infer: infer_recorded, eval: |_, args, _, _| Ok(args[args.len() - 1].clone()), rule: Rule::Missing, lowering: Lowering::Missing, samples: recorded_samples, ..view("recorded", View::Reshape, &[]) };
    /// The same array, taken as a constant by every derivative.
    STILL = OpDef { attrs: &["shape"], infer: infer_still, eval: |_, args, _, _| Ok(args[0].clone()), rule: Rule::Zero, samples: still_samples, ..view("still", View::Reshape, &[]) };
}

const fn external(name: &'static str, by: By) -> OpDef {
    let host = Routine {
        by,
        scratch: |_, _| vec![],
        run: |types, attrs, args, result, _| call_host(attrs.size("number"), types, args, result),
    };
    OpDef {
        arity: None,
        attrs: &["type", "number", "name"],
        infer,
        eval: routine,
        rule: Rule::Missing,
        lowering: Lowering::Routine(host),
        samples: |_| vec![],
        ..view(name, View::Reshape, &[])
    }
}

fn infer(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let ty = attrs.ty("type");
    if attrs.numbers("number").len() != 1 || ty.rank() != 1 || ty.elements() == 0 {
        return Err(wrong(
            ErrorKind::Shape,
            format!("`{}` has one number, and a result with one axis that is not empty", def.name),
        ));
    }
    match types.iter().chain([ty]).find(|ty| ty.dtype == DType::Bool) {
        Some(ty) => Err(wrong(ErrorKind::DType, format!("`{}` takes and gives numbers, found {ty}", def.name))),
        None => Ok(ty.clone()),
    }
}

fn infer_recorded(def: &OpDef, types: &[Type], _: &Attrs) -> Result<Type, Error> {
    types.last().cloned().ok_or_else(|| wrong(ErrorKind::Argument, format!("`{}` needs what was recorded", def.name)))
}

fn infer_still(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    match attrs.sizes("shape") == types[0].shape {
        true => Ok(types[0].clone()),
        false => Err(wrong(ErrorKind::Shape, format!("`{}` keeps the shape of {}", def.name, types[0]))),
    }
}

fn wrong(kind: ErrorKind, message: String) -> Error {
    Error::new(kind, Pos::unknown(), message)
}

fn recorded_samples(def: &OpDef) -> Vec<Sample> {
    vec![Sample { args: vec![(Type::f64([2]), def.domain[0]), (Type::f64([3]), def.domain[0])], attrs: Attrs::none() }]
}

/// Of integers: its derivative by floats is none that differences would find.
fn still_samples(def: &OpDef) -> Vec<Sample> {
    let sample = |shape: &[usize]| Sample {
        args: vec![(Type::new(DType::I64, shape), def.domain[0])],
        attrs: Attrs::none().ints("shape", shape.iter().copied()),
    };
    vec![sample(&[]), sample(&[2, 3])]
}
