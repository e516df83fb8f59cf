//! Exact derivatives of ordinary numerical programs, loops and all, inside the memory you give.

mod pipeline;
pub mod trace;

pub use retrograd_compiler::ir::{Array, Attr, Attrs, DType, Data, Error, ErrorKind, Pos, Program, Row, Type};
pub use retrograd_compiler::{eval, ops};
