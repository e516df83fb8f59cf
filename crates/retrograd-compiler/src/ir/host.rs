//! Functions of the host: what a Program calls that is no part of it.

use std::sync::OnceLock;

use super::routine::{Slice, SliceMut};
use super::types::Type;

/// Computes the result of the function of that number. It must not unwind: what goes wrong is told by the first element
/// of the result, 0 where nothing does.
pub type Host = fn(number: usize, types: &[Type], args: &[Slice<'_>], result: SliceMut<'_>);

/// A process has one host, as it has one Python.
static HOST: OnceLock<Host> = OnceLock::new();

/// Says who computes the functions of the host, for the rest of the process; whether nobody was named before.
pub fn serve(host: Host) -> bool {
    HOST.set(host).is_ok()
}

/// Calls a function of the host; where there is none, every element of the result is 1, which tells of a failure.
pub(crate) fn call(number: usize, types: &[Type], args: &[Slice<'_>], result: SliceMut<'_>) {
    match HOST.get() {
        Some(host) => host(number, types, args, result),
        None => match result {
            SliceMut::F32(x) => x.fill(1.0),
            SliceMut::F64(x) => x.fill(1.0),
            SliceMut::I32(x) => x.fill(1),
            SliceMut::I64(x) => x.fill(1),
        },
    }
}
