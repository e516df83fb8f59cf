//! Shorthands over the builder: what derivative rules and passes write.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{ADD, BROADCAST, CONSTANT, CONVERT, DIV, MUL, NEG, SUB};
use crate::ir::{Array, Attr, Attrs, Builder, DType, ErrorKind, Expr, Lowering, OpDef, Rule, Tangent, Type, Value};

impl Builder {
    /// A literal.
    pub fn constant(&self, value: Array) -> Value {
        self.op(&CONSTANT, Attrs::none().with("value", Attr::Array(value)), &[])
    }

    /// An i64 literal.
    pub fn int(&self, value: i64) -> Value {
        self.constant(Array::int(value))
    }

    /// An array whose elements are all this number.
    pub fn full(&self, ty: &Type, value: f64) -> Value {
        let scalar = self.constant(Array::number(ty.dtype, value));
        self.broadcast(scalar, &ty.shape, &[])
    }

    /// Zeros of a type.
    pub fn zeros(&self, ty: &Type) -> Value {
        self.full(ty, 0.0)
    }

    /// The same elements repeated along new axes; axis k of the operand becomes axis `axes[k]`. Nothing is added where
    /// nothing is new.
    pub fn broadcast(&self, value: Value, shape: &[usize], axes: &[usize]) -> Value {
        if axes.len() == shape.len() {
            return value;
        }
        let attrs = Attrs::none().ints("shape", shape.iter().copied()).ints("axes", axes.iter().copied());
        self.op(&BROADCAST, attrs, &[value])
    }

    /// To another element type; nothing where it has it already.
    pub fn convert(&self, value: Value, dtype: DType) -> Value {
        if self.ty(value).dtype == dtype {
            return value;
        }
        self.op(&CONVERT, Attrs::none().with("dtype", Attr::DType(dtype)), &[value])
    }

    /// Sum of two arrays of one type.
    pub fn add(&self, a: Value, b: Value) -> Value {
        self.op(&ADD, Attrs::none(), &[a, b])
    }

    /// Product of two arrays of one type.
    pub fn mul(&self, a: Value, b: Value) -> Value {
        self.op(&MUL, Attrs::none(), &[a, b])
    }

    /// Negation.
    pub fn neg(&self, a: Value) -> Value {
        self.op(&NEG, Attrs::none(), &[a])
    }
}

impl<'b> Expr<'b> {
    pub(super) fn binary(self, def: &'static OpDef, other: Expr<'b>) -> Expr<'b> {
        Expr::new(self.builder, self.builder.op(def, Attrs::none(), &[self.value, other.value]))
    }

    /// A number in the type of this expression.
    pub(super) fn like(self, x: f64) -> Expr<'b> {
        Expr::new(self.builder, self.builder.full(&self.builder.ty(self.value), x))
    }
}

/// Binary operators between expressions, and with a number on the left.
macro_rules! operators {
    ($($operator:ident $method:ident $row:ident;)*) => {$(
        impl<'b> $operator for Expr<'b> {
            type Output = Expr<'b>;
            fn $method(self, other: Expr<'b>) -> Expr<'b> {
                self.binary(&$row, other)
            }
        }
        impl<'b> $operator<Expr<'b>> for f64 {
            type Output = Expr<'b>;
            fn $method(self, other: Expr<'b>) -> Expr<'b> {
                other.like(self).binary(&$row, other)
            }
        }
    )*};
}

operators! {
    Add add ADD;
    Sub sub SUB;
    Mul mul MUL;
    Div div DIV;
}

impl<'b> Neg for Expr<'b> {
    type Output = Expr<'b>;
    fn neg(self) -> Expr<'b> {
        Expr::new(self.builder, self.builder.neg(self.value))
    }
}

/// Evaluation of a row that is a routine.
pub(super) fn routine(def: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let Lowering::Routine(routine) = def.lowering else { panic!("`{}` is no routine", def.name) };
    Ok(routine.evaluate(args, attrs, ty))
}

/// A rule that is built from other rows.
pub(super) const fn tangent(tangent: Tangent) -> Rule {
    Rule::Tangent { tangent, linear: &[] }
}

/// The tangent of the one argument.
pub(super) fn given(tangents: &[Option<Value>]) -> Value {
    tangents[0].expect("a tangent rule gets one tangent at least")
}

/// The sum of the terms that there are.
pub(super) fn total(b: &Builder, terms: impl IntoIterator<Item = Option<Value>>) -> Value {
    let sum = terms.into_iter().flatten().reduce(|sum, term| b.add(sum, term));
    sum.expect("a tangent rule gets one tangent at least")
}

/// 1 where two arrays are equal, else 0, in their type.
pub(super) fn equal(b: &Builder, x: Value, y: Value) -> Value {
    let equal = b.op(&super::EQ, Attrs::none(), &[x, y]);
    b.convert(equal, b.ty(x).dtype)
}
