//! Errors of the compiler as exceptions: `retrograd.errors` holds the classes and the form of the message.

use pyo3::prelude::*;
use retrograd::{Error, ErrorKind};

/// The Python exception for an error.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    let mut tag = None;
    let (kind, sizes) = match &error.kind {
        ErrorKind::Shape => ("Shape", None),
        ErrorKind::DType => ("DType", None),
        ErrorKind::Argument => ("Argument", None),
        ErrorKind::Parse => ("Parse", None),
        ErrorKind::Verify => ("Verify", None),
        ErrorKind::MissingRule => ("MissingRule", None),
        ErrorKind::Unsupported => ("Unsupported", None),
        ErrorKind::OverBudget { needed, budget } => ("OverBudget", Some((*needed, *budget))),
        ErrorKind::Bounds => ("Bounds", None),
        ErrorKind::DivisionByZero => ("DivisionByZero", None),
        ErrorKind::Check { tag: given } => {
            tag = Some(given.as_str());
            ("Check", None)
        }
        ErrorKind::NotFinite => ("NotFinite", None),
        ErrorKind::OutOfMemory { .. } => ("OutOfMemory", None),
        ErrorKind::Disk => ("Disk", None),
        ErrorKind::Interrupted => ("Interrupted", None),
    };
    let (needed, budget) = sizes.unzip();
    let arguments = (kind, message(&error), error.pos.file(), error.pos.line(), needed, budget, tag);
    let made = py.import("retrograd.errors").and_then(|module| module.getattr("from_native")?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The message without the position, which the Python side puts last, with the source text; what the user wrote is all
/// of it.
fn message(error: &Error) -> String {
    if matches!(error.kind, ErrorKind::Check { .. }) {
        return error.message.clone();
    }
    Error { pos: retrograd::Pos::unknown(), ..error.clone() }.to_string()
}
