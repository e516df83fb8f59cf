//! The native half of the Python package: the tracer, compilation and runs. What users see is written in Python, in
//! `python/retrograd`.

mod array;
mod error;
mod executable;
mod expr;
mod host;
mod ticks;
mod tracer;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::executable::{Direct, Executable, cache_clear, cache_info, compile, load};
    #[pymodule_export]
    use crate::expr::Expr;
    #[pymodule_export]
    use crate::host::serve;
    #[pymodule_export]
    use crate::ticks::forked;
    #[pymodule_export]
    use crate::tracer::{Program, Tracer};
}
