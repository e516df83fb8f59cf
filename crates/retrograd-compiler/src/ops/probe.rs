//! The one op with an effect.

use super::ops;
use super::shape::view;
use crate::ir::{Array, Attr, Attrs, DType, Lowering, Row, Rule, Sample, Type, View};

ops! {
    /// Shows its argument, under a name, to whoever observes the run; its result is always true. Loops that are run again for their adjoint show nothing.
    PROBE = Row { attrs: &["name"], infer: |_, _, _| Ok(Type::scalar(DType::Bool)), eval: |_, _, _, _| Ok(Array::bool(true)), rule: Rule::Zero, lowering: Lowering::Probe, samples, ..view("probe", View::Reshape, &[]) };
}

fn samples(row: &Row) -> Vec<Sample> {
    let sample = |ty: Type| Sample { args: vec![(ty, row.domain[0])], attrs: Attrs::none().with("name", Attr::Text("x".into())) };
    vec![sample(Type::f64([])), sample(Type::f64([2, 3])), sample(Type::new(DType::I64, [2])), sample(Type::scalar(DType::Bool))]
}
