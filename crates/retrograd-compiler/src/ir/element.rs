//! Element types of the host, so that what holds for all of them is written once.

use super::array::{Array, Data, DataMut};
use super::types::DType;

/// A type that elements of an [`Array`] have.
pub trait Element: Copy + PartialEq + PartialOrd + std::fmt::Debug + 'static {
    /// Its name.
    const DTYPE: DType;
    /// The elements of an array of this type; panics on another (callers have verified types).
    fn of(array: &Array) -> &[Self];
    /// The elements, to be changed in place.
    fn of_mut(array: &mut Array) -> &mut [Self];
    /// Elements as data.
    fn data(elements: Vec<Self>) -> Data;
    /// Rounded to nearest; bool becomes 0 or 1.
    fn to_f32(self) -> f32;
    /// Rounded to nearest; bool becomes 0 or 1.
    fn to_f64(self) -> f64;
    /// Floats truncate and saturate, NaN becomes 0, integers wrap.
    fn to_i32(self) -> i32;
    /// Floats truncate and saturate, NaN becomes 0.
    fn to_i64(self) -> i64;
    /// Whether it is not zero.
    fn to_bool(self) -> bool;
    /// A number in this type, as literals of rules are written.
    fn from_f64(x: f64) -> Self;
    /// Its bits, zero-extended: 0.0 differs from -0.0, and a NaN is itself.
    fn bits(self) -> u64;
}

macro_rules! elements {
    ($($ty:ident $variant:ident: |$x:ident| $number:expr, $truth:expr, $from:expr, $bits:expr;)*) => {$(
        impl Element for $ty {
            const DTYPE: DType = DType::$variant;
            fn of(array: &Array) -> &[$ty] {
                let Data::$variant(x) = array.data() else { wrong(DType::$variant, array) };
                x
            }
            fn of_mut(array: &mut Array) -> &mut [$ty] {
                if array.dtype() != DType::$variant {
                    wrong(DType::$variant, array)
                }
                let DataMut::$variant(x) = array.data_mut() else { panic!("the type was just checked") };
                x
            }
            fn data(elements: Vec<$ty>) -> Data {
                Data::$variant(elements)
            }
            fn to_f32(self) -> f32 {
                let $x = self;
                $number as f32
            }
            fn to_f64(self) -> f64 {
                let $x = self;
                $number as f64
            }
            fn to_i32(self) -> i32 {
                let $x = self;
                $number as i32
            }
            fn to_i64(self) -> i64 {
                let $x = self;
                $number as i64
            }
            fn to_bool(self) -> bool {
                let $x = self;
                $truth
            }
            fn from_f64($x: f64) -> $ty {
                $from
            }
            fn bits(self) -> u64 {
                let $x = self;
                $bits
            }
        }
    )*};
}

elements! {
    f32 F32: |x| x, x != 0.0, x as f32, u64::from(x.to_bits());
    f64 F64: |x| x, x != 0.0, x, x.to_bits();
    i32 I32: |x| x, x != 0, x as i32, u64::from(x.cast_unsigned());
    i64 I64: |x| x, x != 0, x as i64, x.cast_unsigned();
    bool Bool: |x| u8::from(x), x, x != 0.0, u64::from(x);
}

fn wrong(expected: DType, array: &Array) -> ! {
    panic!("verified types: expected {expected}, found {}", array.ty())
}

/// Runs the expression with `$T` as the type of elements: `each_element!(dtype, T => T::of(array).len())`.
macro_rules! each_element {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::ir::DType;
        match $dtype {
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            DType::Bool => {
                type $T = bool;
                $body
            }
        }
    }};
}

/// The same for numbers; verified types keep bool away.
macro_rules! each_number {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::ir::DType;
        match $dtype {
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            DType::Bool => panic!("verified types: numbers, found bool"),
        }
    }};
}

/// The same for floats.
macro_rules! each_float {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::ir::DType;
        match $dtype {
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            other @ (DType::I32 | DType::I64 | DType::Bool) => panic!("verified types: floats, found {other}"),
        }
    }};
}

/// The same for integers and truth values.
macro_rules! each_bits {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::ir::DType;
        match $dtype {
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            DType::Bool => {
                type $T = bool;
                $body
            }
            other @ (DType::F32 | DType::F64) => panic!("verified types: integers or bool, found {other}"),
        }
    }};
}

/// The same for integers.
macro_rules! each_integer {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::ir::DType;
        match $dtype {
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            other @ (DType::F32 | DType::F64 | DType::Bool) => panic!("verified types: integers, found {other}"),
        }
    }};
}

pub(crate) use {each_bits, each_element, each_float, each_integer, each_number};
