//! The Program: functions in SSA form over typed dense arrays, with structured control flow.
//!
//! Values are immutable; bodies of control flow are closed functions of the same Program. The meaning of each construct
//! is stated beside its variant of [`Op`]; the meaning of each table op is its [`OpDef`].

mod array;
mod attr;
mod builder;
mod element;
mod error;
mod host;
mod linear;
mod op_def;
mod program;
mod routine;
mod same;
mod text;
mod types;
mod verify;

pub use array::{Array, Data, DataMut};
pub use attr::{Attr, Attrs, EXACT};
pub use builder::{Builder, Expr};
pub use element::Element;
pub(crate) use element::{each_bits, each_element, each_float, each_integer, each_number};
pub use error::{Error, ErrorKind, Part, Pos};
pub(crate) use host::call as call_host;
pub use host::{Host, serve};
pub use linear::linear_in;
pub use op_def::{
    Composed, Contribution, Indexing, LaneFunction, Lowering, OpDef, Partial, PartialOf, Reduction, Rule, Sample,
    Scalar, Scan, Tangent, Transpose, TransposeOfEach, View, Write,
};
pub use program::{
    CallOp, CustomRule, ForOp, FuncId, Function, IfOp, Inst, Linearity, Op, Program, UnwindArgs, UnwindOp, Value,
    WhileOp,
};
pub use routine::{By, Factors, Routine, Run, Slice, SliceMut};
pub use text::parse;
pub use types::{DType, Type};
pub(crate) use verify::too_long;
pub use verify::{MAX_INSTS, MAX_NESTING, verify};
