//! Element types and array types.

use super::error::{Error, ErrorKind, Pos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DType {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 32-bit integer, wrapping.
    I32,
    /// 64-bit integer, wrapping.
    I64,
    /// Truth value, one byte in memory.
    Bool,
}

impl DType {
    /// Every element type, in the order of the enum.
    pub const ALL: [DType; 5] = [DType::F32, DType::F64, DType::I32, DType::I64, DType::Bool];

    /// Bytes of one element in memory.
    pub fn bytes(self) -> usize {
        match self {
            DType::F32 | DType::I32 => 4,
            DType::F64 | DType::I64 => 8,
            DType::Bool => 1,
        }
    }

    /// Name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::Bool => "bool",
        }
    }

    /// Whether it counts: integers wrap, divide towards zero and fault by zero.
    pub fn is_integer(self) -> bool {
        match self {
            DType::I32 | DType::I64 => true,
            DType::F32 | DType::F64 | DType::Bool => false,
        }
    }

    /// Only floats carry derivatives.
    pub fn is_float(self) -> bool {
        match self {
            DType::F32 | DType::F64 => true,
            DType::I32 | DType::I64 | DType::Bool => false,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value: element type and static shape. Rank 0 is a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Type {
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first; row-major in memory.
    pub shape: Vec<usize>,
}

impl Type {
    /// An array type.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> Type {
        Type { dtype, shape: shape.into() }
    }

    /// A rank-0 type.
    pub fn scalar(dtype: DType) -> Type {
        Type { dtype, shape: Vec::new() }
    }

    /// An f64 array type.
    pub fn f64(shape: impl Into<Vec<usize>>) -> Type {
        Type::new(DType::F64, shape)
    }

    /// An f32 array type.
    pub fn f32(shape: impl Into<Vec<usize>>) -> Type {
        Type::new(DType::F32, shape)
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Most bytes that a value may have: more than any machine can address, and few enough that sums over the values of
    /// a program fit in 63 bits.
    pub const MAX_BYTES: usize = 1 << 48;

    /// Most axes that a value may have.
    pub const MAX_RANK: usize = 8;

    /// Whether a value can have this type; the error says what is too much.
    ///
    /// ```
    /// use retrograd_compiler::ir::{ErrorKind, Type};
    /// assert!(Type::f64([2, 3]).check().is_ok());
    /// assert_eq!(Type::f64([1; 33]).check().unwrap_err().kind, ErrorKind::Unsupported);
    /// assert_eq!(Type::f64([1 << 40, 1 << 40]).check().unwrap_err().kind, ErrorKind::Shape);
    /// ```
    pub fn check(&self) -> Result<(), Error> {
        let (kind, message) = match self.checked_elements() {
            _ if self.rank() > Type::MAX_RANK => (
                ErrorKind::Unsupported,
                format!("{self} has {} axes; at most {} are supported", self.rank(), Type::MAX_RANK),
            ),
            None => (ErrorKind::Shape, format!("{self} has more elements than memory can hold")),
            Some(_) => return Ok(()),
        };
        Err(Error::new(kind, Pos::unknown(), message))
    }

    /// Whether the machine has memory for an array of this type now. Memory of zeros costs nothing until it is read,
    /// and is there or ends the process: so it is asked for in another way before.
    pub fn check_memory(&self) -> Result<(), Error> {
        let bytes = self.checked_bytes();
        let fits = |bytes: usize| bytes < ASKED_BYTES || Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if bytes.is_some_and(fits) {
            return Ok(());
        }
        let needed = bytes.map_or(u64::MAX, |bytes| bytes as u64);
        Err(Error::new(
            ErrorKind::OutOfMemory { needed },
            Pos::unknown(),
            format!("the machine has no memory for an array {self}"),
        ))
    }

    /// Number of elements, or `None` where elements, strides or bytes would overflow; the verifier refuses such types.
    pub fn checked_elements(&self) -> Option<usize> {
        // Extents of 0 count as 1, since strides skip them.
        let elements = self.shape.iter().try_fold(1usize, |product, extent| product.checked_mul((*extent).max(1)))?;
        let bytes = elements.checked_mul(self.dtype.bytes())?;
        (bytes <= Type::MAX_BYTES).then(|| self.elements())
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of the whole array, or `None` where there are more than memory can have.
    pub fn checked_bytes(&self) -> Option<usize> {
        self.checked_elements().map(|elements| elements * self.dtype.bytes())
    }

    /// Bytes of the whole array.
    pub fn bytes(&self) -> usize {
        self.elements() * self.dtype.bytes()
    }

    /// The type of one row of a stream of this type: the leading axis removed. `None` for scalars.
    pub fn row(&self) -> Option<Type> {
        (!self.shape.is_empty()).then(|| Type::new(self.dtype, &self.shape[1..]))
    }

    /// The type of a stream of `count` rows of this type.
    pub fn stream(&self, count: usize) -> Type {
        let mut shape = vec![count];
        shape.extend(&self.shape);
        Type::new(self.dtype, shape)
    }

    /// Row-major strides in elements.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.rank()];
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis] * self.shape[axis];
        }
        strides
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype)?;
        if !self.shape.is_empty() {
            let axes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
            write!(f, "[{}]", axes.join(","))?;
        }
        Ok(())
    }
}

/// Bytes from which the machine is asked whether it has them.
const ASKED_BYTES: usize = 1 << 20;
