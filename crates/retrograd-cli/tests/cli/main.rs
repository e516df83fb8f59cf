//! The command `retrograd` as a user runs it: arguments in, text and exit code out.

mod commands;
mod formulas;
mod hostile;
mod numpy_files;
mod saved_files;
mod support;
