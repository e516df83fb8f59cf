//! A Program with f64 in place of f32, so that differences of its values are exact enough to judge derivatives in f32.

use crate::ir::{Array, Attr, Attrs, DType, Element, Op, Program, Type};

/// Whether anything is an f32.
pub(super) fn has_f32(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.types).any(|ty| ty.dtype == DType::F32)
}

/// The same Program over f64.
pub(super) fn widened(program: &Program) -> Program {
    let mut program = program.clone();
    for function in &mut program.functions {
        function.types.iter_mut().for_each(|ty| *ty = wide_type(ty));
        for inst in &mut function.insts {
            if let Op::Def(_, attrs) = &mut inst.op {
                *attrs = attrs.iter().fold(Attrs::none(), |attrs, (name, attr)| attrs.with(name, wide_attr(attr)));
            }
        }
    }
    program
}

/// The same array over f64.
pub(super) fn wide(array: &Array) -> Array {
    match array.dtype() {
        DType::F32 => Array::f64(array.shape(), f32::of(array).iter().map(|x| f64::from(*x)).collect()),
        DType::F64 | DType::I32 | DType::I64 | DType::Bool => array.clone(),
    }
}

fn wide_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F32 | DType::F64 => DType::F64,
        DType::I32 | DType::I64 | DType::Bool => dtype,
    }
}

fn wide_type(ty: &Type) -> Type {
    Type::new(wide_dtype(ty.dtype), ty.shape.clone())
}

fn wide_attr(attr: &Attr) -> Attr {
    match attr {
        Attr::Ints(values) => Attr::Ints(values.clone()),
        Attr::DType(dtype) => Attr::DType(wide_dtype(*dtype)),
        Attr::Type(ty) => Attr::Type(wide_type(ty)),
        Attr::Array(array) => Attr::Array(wide(array)),
        Attr::Text(text) => Attr::Text(text.clone()),
        Attr::Flag => Attr::Flag,
    }
}
