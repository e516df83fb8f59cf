//! What every op means: one row per op, in the file of its family.
//!
//! A row holds the name, the shape rule, the reference evaluation, the derivative, the lowering and the inputs of its
//! automatic tests; text form, listing, tests and Python name follow from it.

mod build;
mod dot;
mod effect;
mod external;
mod fold;
mod gather;
mod index;
pub mod lanes;
mod linalg;
mod matrix;
mod number;
mod products;
mod reduce;
mod scalar;
mod scan;
mod shape;
mod sort;
mod spectral;

use crate::ir::{Error, OpDef, Program};

pub use dot::{DOT, DOT_ONTO, DotAxes, DotOrder};
pub use effect::{CHECK, PROBE};
pub use external::{EXTERNAL, PURE_EXTERNAL, RECORDED, STILL};
pub use fold::{ALL, ANY, ARGMAX, ARGMIN, LOGSUMEXP, PROD, REDUCE_MAX, REDUCE_MIN};
pub use gather::{
    ADD_ALONG_AXIS, GATHER, SCATTER_ADD, SCATTER_MAX, SCATTER_MIN, SCATTER_MUL, SCATTER_SET, TAKE_ALONG_AXIS,
};
pub use index::{ADD_AT, DYNAMIC_SLICE, SLICE, UPDATE, clamp_start};
pub use linalg::{ADJUGATE, CHOLESKY, DET, DET_SIGN, INVERSE, LOGDET, LU, LU_PERMUTATION, QR, SOLVE, TRIANGULAR_SOLVE};
pub use products::{PRODUCTS, Products, Start};
pub use reduce::{SUM, SUM_CHUNK, SUM_LANES, sum_axes};
pub use scalar::{
    ABS, ACOS, ACOSH, ADD, AND, ASIN, ASINH, ATAN, ATAN2, ATANH, CBRT, CEIL, CLAMP, CONVERT, COPYSIGN, COS, COSH, DIV,
    EQ, ERF, ERFC, EXP, EXP2, EXPM1, FLOOR, FMA, GE, GT, HYPOT, IS_FINITE, IS_NAN, LE, LOG, LOG1P, LOG2, LOG10,
    LOGADDEXP, LOGADDEXP2, LOGISTIC, LT, MAX, MIN, MUL, Meaning, NE, NEG, NOT, OR, POW, REM, ROUND, RSQRT, SELECT, SHL,
    SHR, SIGN, SIN, SINH, SQRT, SUB, TAN, TANH, TRUNC, XOR, evaluate, meaning,
};
pub use scan::{CUMMAX, CUMMIN, CUMPROD, CUMSUM, LINEAR_SCAN};
pub use shape::{BROADCAST, CONCAT, CONSTANT, IOTA, PAD, RESHAPE, REVERSE, TRANSPOSE, composed};
pub use sort::{ARGSORT, SORT};
pub use spectral::{
    AGREE, EIGENVECTORS, EIGVALSH, LEFT_VECTORS, NUCLEAR_NORM, PINV, POLAR, POLAR_SOLVE, RIGHT_VECTORS, SVDVALS,
};

/// All rows, family by family.
pub fn rows() -> impl Iterator<Item = &'static OpDef> {
    let families = [
        scalar::ROWS,
        shape::ROWS,
        index::ROWS,
        gather::ROWS,
        reduce::ROWS,
        dot::ROWS,
        fold::ROWS,
        scan::ROWS,
        sort::ROWS,
        linalg::ROWS,
        spectral::ROWS,
        effect::ROWS,
        external::ROWS,
    ];
    families.into_iter().flatten().copied()
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static OpDef> {
    rows().find(|row| row.name == name)
}

/// Whether a row is one of the table. Of others nobody knows whether their shapes are those of their machine code.
pub fn is_ours(def: &OpDef) -> bool {
    find(def.name).is_some_and(|known| std::ptr::eq(known, def))
}

/// Reads the text form over these rows; `file` names the text in positions and errors.
///
/// ```
/// use retrograd_compiler::{ir, ops};
/// let text = "fn main(%0: f64[3]) -> f64 {\n  %1: f64 = sum %0 {axes=[0]}\n  return %1\n}\n";
/// let program = ops::parse(text, "sum.rg").unwrap();
/// assert!(ir::verify(&program).is_ok());
/// assert_eq!(program.to_string(), text);
///
/// let error = ops::parse("fn main() -> f64 {\n  %0: f64 = sume %0\n}", "sum.rg").unwrap_err();
/// assert_eq!(error.to_string(), "sum.rg:2: parse error: unknown op `sume`; did you mean `sum`?");
/// ```
pub fn parse(text: &str, file: &str) -> Result<Program, Error> {
    crate::ir::parse(text, file, &find)
}

/// Makes one `static` per row and the family's list; the doc comment is the row's `doc`.
macro_rules! ops {
    ($($(#[doc = $doc:literal])+ $name:ident = $row:expr;)*) => {
        $($(#[doc = $doc])+ pub static $name: $crate::ir::OpDef = $crate::ir::OpDef { doc: concat!($($doc),+), ..$row };)*
        pub(super) static ROWS: &[&$crate::ir::OpDef] = &[$(&$name),*];
    };
}
use ops;

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = super::rows().map(|row| row.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
