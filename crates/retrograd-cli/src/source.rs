//! The text of a Program, and errors shown in it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use retrograd::{Error, ErrorKind, Pos, Program, ops};
use retrograd_compiler::ir::verify;
use retrograd_testing::golden::Directives;

/// A text and the name by which messages call it.
#[derive(Debug)]
pub(crate) struct Source {
    name: String,
    text: String,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    pub(crate) fn read(path: &Path) -> Result<Source, Error> {
        let (name, text) = match path.to_str() {
            Some("-") => ("<stdin>".into(), standard_input()),
            Some(_) | None => (path.display().to_string(), fs::read_to_string(path)),
        };
        match text {
            Ok(text) => Ok(Source { name, text }),
            Err(error) => Err(argument(format!("cannot read {name}: {error}"))),
        }
    }

    /// The Program as it is written.
    pub(crate) fn parsed(&self) -> Result<Program, Error> {
        ops::parse(&self.text, &self.name)
    }

    /// The Program, known to keep the rules of the IR.
    pub(crate) fn program(&self) -> Result<Program, Error> {
        let program = self.parsed()?;
        verify(&program)?;
        Ok(program)
    }

    /// Literals of the lines `// input: …`.
    pub(crate) fn inputs(&self) -> Vec<String> {
        Directives::of(&self.text).all("input").map(str::to_string).collect()
    }

    /// An error as the user reads it: where, what, and the line itself.
    pub(crate) fn explain(&self, error: &Error) -> String {
        let place = if error.pos.is_known() { String::new() } else { format!("{}: ", self.name) };
        format!("error: {place}{error}\n{}", self.line(&error.pos).unwrap_or_default())
    }

    /// The line of a position in this text.
    fn line(&self, pos: &Pos) -> Option<String> {
        if pos.file() != Some(&self.name) {
            return None;
        }
        let line = self.text.lines().nth((pos.line() as usize).checked_sub(1)?)?;
        Some(format!("{:5} | {}\n", pos.line(), line.trim_end()))
    }
}

/// An error of what was given besides the Program.
pub(crate) fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}

fn standard_input() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}
