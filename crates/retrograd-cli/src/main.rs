//! The command `retrograd`: runs, differentiates, checks and explains Programs in their text form.
#![forbid(unsafe_code)]

mod arguments;
mod check;
mod commands;
mod formula;
mod inputs;
mod numpy;
mod outputs;
mod running;
mod source;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use commands::{Report, Verdict};

/// The program or an input is wrong. Wrong usage is 2, given by clap.
const USER_ERROR: u8 = 1;
/// A check of `retrograd check` failed.
const CHECK_FAILED: u8 = 3;

fn main() -> ExitCode {
    match commands::execute(&Arguments::parse().command) {
        Ok(Report { text, note, verdict }) => {
            // Where standard error is closed there is nobody to tell.
            let _ = write(&mut io::stderr(), &note);
            match (write(&mut io::stdout(), &text), verdict) {
                (Ok(()), Verdict::Passed) => ExitCode::SUCCESS,
                (Ok(()), Verdict::Failed) => ExitCode::from(CHECK_FAILED),
                (Err(error), Verdict::Passed | Verdict::Failed) => failed(&format!("error: cannot write: {error}\n")),
            }
        }
        Err(message) => failed(&message),
    }
}

fn failed(message: &str) -> ExitCode {
    // Where standard error is closed there is nobody left to tell.
    let _ = write(&mut io::stderr(), message);
    ExitCode::from(USER_ERROR)
}

/// Writes all of it; a reader that has seen enough (`retrograd ops | head`) is no mistake.
fn write(to: &mut dyn Write, text: &str) -> io::Result<()> {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
