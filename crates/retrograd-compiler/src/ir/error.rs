//! The one error type: whose fault, where, what was expected, what was found, what to do.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A position in the user's source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pos {
    file: Option<Arc<str>>,
    line: u32,
    part: Part,
}

/// Which part of a program an instruction belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// It computes values (or tangents beside them).
    #[default]
    Forward,
    /// Reverse mode made it, for the line that it carries.
    Backward,
}

impl Pos {
    /// No position is known.
    pub fn unknown() -> Pos {
        Pos::default()
    }

    /// A line of a file.
    pub fn new(file: impl Into<Arc<str>>, line: u32) -> Pos {
        Pos { file: Some(file.into()), line, part: Part::Forward }
    }

    /// The same line in that part; what is backward stays backward, whatever is derived from it.
    #[must_use]
    pub fn in_part(&self, part: Part) -> Pos {
        Pos { part: self.part.max(part), ..self.clone() }
    }

    /// The part of the program.
    pub fn part(&self) -> Part {
        self.part
    }

    /// The file, where known.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The line, 1-based.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Whether anything is known.
    pub fn is_known(&self) -> bool {
        self.file.is_some()
    }
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}:{}", self.line),
            None => f.write_str("unknown position"),
        }
    }
}

/// What went wrong, by kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Shapes do not fit.
    Shape,
    /// Element types do not fit.
    DType,
    /// An argument has the wrong kind, number or range.
    Argument,
    /// The text form could not be read.
    Parse,
    /// The Program breaks a rule of the IR.
    Verify,
    /// An op has no derivative rule.
    MissingRule,
    /// Something that Retrograd does not do (yet); never degraded silently.
    Unsupported,
    /// The budget cannot be met; `needed` is the smallest that can.
    OverBudget {
        /// Smallest feasible budget in bytes.
        needed: u64,
        /// The budget asked for, in bytes.
        budget: u64,
    },
    /// An index was out of bounds during the run.
    Bounds,
    /// An integer was divided by zero during the run.
    DivisionByZero,
    /// A check of the program failed during the run.
    Check {
        /// What the program says of the kind of failure, for whoever handles it; may be empty.
        tag: String,
    },
    /// A NaN or an infinity came out of numbers, in a run that looks for it.
    NotFinite,
    /// The machine has not the memory that the run needs.
    OutOfMemory {
        /// Bytes asked for.
        needed: u64,
    },
    /// States of a run could not be written to a disk, or read from it.
    Disk,
    /// The run was stopped from outside.
    Interrupted,
}

/// An error with the user's own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of error.
    pub kind: ErrorKind,
    /// Where, in the user's source.
    pub pos: Pos,
    /// What was expected and what was found, and what to do.
    pub message: String,
}

impl Error {
    /// An error of a kind at a place.
    pub fn new(kind: ErrorKind, pos: Pos, message: impl Into<String>) -> Error {
        Error { kind, pos, message: message.into() }
    }

    /// The same error, with a position if it had none.
    pub fn at(mut self, pos: &Pos) -> Error {
        if !self.pos.is_known() {
            self.pos = pos.clone();
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            ErrorKind::Shape => "shape error",
            ErrorKind::DType => "type error",
            ErrorKind::Argument => "argument error",
            ErrorKind::Parse => "parse error",
            ErrorKind::Verify => "invalid program",
            ErrorKind::MissingRule => "missing derivative rule",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::OverBudget { .. } => "over budget",
            ErrorKind::Bounds => "index out of bounds",
            ErrorKind::DivisionByZero => "integer division by zero",
            ErrorKind::Check { .. } => "check failed",
            ErrorKind::NotFinite => "not finite",
            ErrorKind::OutOfMemory { .. } => "out of memory",
            ErrorKind::Disk => "disk",
            ErrorKind::Interrupted => "interrupted",
        };
        if self.pos.is_known() {
            write!(f, "{}: {kind}: {}", self.pos, self.message)
        } else {
            write!(f, "{kind}: {}", self.message)
        }
    }
}

impl std::error::Error for Error {}
