//! Compilations as files.
//!
//! A file holds the Program that was placed and what was decided about it, no loops and no machine code: those are made
//! when it is loaded, so it is loaded on any machine, by any back end. Nothing in it is trusted: the Program is
//! verified and the decision is held against it, so a file gives an error, or the run of a valid Program.
//!
//! It is, in this order: eight bytes that say what it is, the version of this form, the checksum of all that follows,
//! how many bytes that is, and then the version of Retrograd that saved it and the rest, by postcard. Numbers of the
//! header are little-endian. The version of Retrograd must be the one that loads: ops and functions belong to it, and
//! so do their bits.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use retrograd_compiler::ir::{Error, ErrorKind, Op, Pos};
use retrograd_compiler::lower;
use retrograd_compiler::plan::Decided;
use retrograd_jit::{Backend, Executable};

use crate::pipeline::Compiled;

/// What a front end wants to find again in a file, by name.
type Notes = BTreeMap<String, String>;

/// How files begin. The bytes that are no text show copies that were made as text.
const MAGIC: [u8; 8] = *b"\x89RGX\r\n\x1a\n";

/// To be raised by a release that stores Programs or decisions in another way than the one before; a test holds a file
/// against it. Form 1 held loops.
const FORMAT: u32 = 2;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Bytes of the magic, the version of the form, the checksum and the length.
const HEADER_BYTES: usize = 24;

/// Whether bytes are those of a saved compilation, of any version.
///
/// ```
/// assert!(!retrograd::is_saved(b"func @main(%0: f64) -> f64 {"));
/// ```
pub fn is_saved(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// A compilation as it is saved: a Program, what was decided about it, and notes.
///
/// ```
/// use retrograd::{Array, Backend, Saved, f64, value_and_grad};
/// let path = std::env::temp_dir().join(format!("square-{}.rgx", std::process::id()));
/// value_and_grad(|[x]| x * x).compile(&[f64([])])?.save(&path)?;
/// let saved = Saved::load(&path)?;
/// let square = saved.compile(&Backend::Cranelift)?;
/// let (outputs, stats) = square.run(&[&Array::scalar(3.0)])?;
/// assert_eq!(outputs, [Array::scalar(9.0), Array::scalar(6.0)]);
/// assert_eq!(stats.bytes_peak, square.bytes_peak());
/// assert!(saved.note("plan").unwrap().starts_with("plan by `auto`"));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Saved {
    decided: Decided,
    notes: Notes,
}

impl Compiled {
    /// What [`save`](Compiled::save) writes, with the Program and the plan in words.
    pub fn saved(&self) -> Saved {
        Saved::new(self.plan.decided())
            .with_note("program", self.program.to_string())
            .with_note("plan", self.plan.to_string())
    }

    /// Writes it to a file, which [`Saved::load`] reads without tracing, differentiating or planning again. The file
    /// serves on any machine with the same version of Retrograd.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.saved().save(path)
    }
}

impl Saved {
    /// What was decided, without notes.
    pub fn new(decided: Decided) -> Saved {
        Saved { decided, notes: Notes::new() }
    }

    /// The same with a note of this name.
    #[must_use]
    pub fn with_note(mut self, name: &str, text: String) -> Saved {
        self.notes.insert(name.to_owned(), text);
        self
    }

    /// What its front end noted under that name.
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.get(name).map(String::as_str)
    }

    /// Verifies it and makes machine code of it: the same bits and the same peak of memory as before, or an error where
    /// the file holds no valid Program or a decision that does not fit it.
    pub fn compile(&self, backend: &Backend) -> Result<Executable, Error> {
        self.check_host()?;
        let lowered = lower::lower_decided(&self.decided).map_err(|error| Error { pos: Pos::unknown(), ..error })?;
        Executable::new(backend, &lowered)
    }

    /// Writes it to a file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        fs::write(path, self.to_bytes()?).map_err(|problem| in_file(path, problem))
    }

    /// Reads what [`save`](Saved::save) wrote. A file that is damaged, cut off, or of another version of Retrograd is
    /// an error.
    pub fn load(path: impl AsRef<Path>) -> Result<Saved, Error> {
        let path = path.as_ref();
        let bytes = read(path).map_err(|problem| in_file(path, problem))?;
        decode(&bytes).map_err(|problem| in_file(path, problem))
    }

    /// What [`save`](Saved::save) writes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.check_host()?;
        encode_as(VERSION, self)
    }

    /// Functions of the host stay in the process that has them.
    fn check_host(&self) -> Result<(), Error> {
        let insts = self.decided.program().functions.iter().flat_map(|function| &function.insts);
        let mut names = insts.filter_map(|inst| match &inst.op {
            Op::Def(def, attrs) if def.lowering.is_host() => Some((attrs.text("name").to_owned(), inst.pos.clone())),
            Op::Def(..) | Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => None,
        });
        match names.next() {
            Some((name, pos)) => {
                let message =
                    format!("the external function `{name}` is part of this process: what calls it cannot be saved");
                Err(Error::new(ErrorKind::Unsupported, pos, message))
            }
            None => Ok(()),
        }
    }

    /// What [`load`](Saved::load) makes of the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Saved, Error> {
        decode(bytes).map_err(argument)
    }
}

/// The bytes of a file, no more of which are read than its header says.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (File::open(path)?, Vec::new());
    (&mut file).take(HEADER_BYTES as u64).read_to_end(&mut bytes)?;
    if is_saved(&bytes)
        && let Some(length) = bytes.get(HEADER_BYTES - 8..HEADER_BYTES)
    {
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
        // One more shows that the file is too long.
        file.take(length.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn encode_as(version: &str, saved: &Saved) -> Result<Vec<u8>, Error> {
    let refused = |error: postcard::Error| {
        Error::new(ErrorKind::Unsupported, Pos::unknown(), format!("this cannot be saved: {error}"))
    };
    let mut guarded = vec![0; 8];
    guarded.extend(postcard::to_stdvec(version).map_err(refused)?);
    guarded.extend(postcard::to_stdvec(&(&saved.decided, &saved.notes)).map_err(refused)?);
    let length = (guarded.len() - 8) as u64;
    guarded[..8].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&guarded);
    Ok([&MAGIC[..], &FORMAT.to_le_bytes(), &checksum.to_le_bytes(), &guarded].concat())
}

/// What the bytes of a file say; the error says what is wrong with them.
fn decode(bytes: &[u8]) -> Result<Saved, String> {
    if !is_saved(bytes) {
        return Err("this is nothing that Retrograd has saved".into());
    }
    let Some((header, body)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err("the file is cut off in its header".into());
    };
    let number = |from: usize| u32::from_le_bytes(header[from..from + 4].try_into().expect("four bytes"));
    if number(8) != FORMAT {
        return Err(format!(
            "the file has the form {}, and Retrograd {VERSION} reads the form {FORMAT}; save it anew with this version",
            number(8)
        ));
    }
    let length = u64::from_le_bytes(header[16..].try_into().expect("eight bytes"));
    if length != body.len() as u64 {
        return Err(format!(
            "the file is cut off or damaged: {length} bytes should follow its header, and {} do",
            body.len()
        ));
    }
    if number(12) != crc32fast::hash(&bytes[16..]) {
        return Err("the file is damaged: its checksum differs".into());
    }
    let damaged =
        |error: postcard::Error| format!("the file cannot be read ({error}); save it anew with Retrograd {VERSION}");
    let (version, body) = postcard::take_from_bytes::<String>(body).map_err(damaged)?;
    if version != VERSION {
        return Err(format!(
            "the file was saved by Retrograd {version}, and this is {VERSION}; save it anew with this version"
        ));
    }
    match postcard::take_from_bytes::<(Decided, Notes)>(body).map_err(damaged)? {
        ((decided, notes), []) => Ok(Saved { decided, notes }),
        (_, rest) => Err(format!("the file has {} bytes too many", rest.len())),
    }
}

/// An error with a file.
fn in_file(path: &Path, problem: impl std::fmt::Display) -> Error {
    argument(format!("{}: {problem}", path.display()))
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Saved {
        crate::jit(|[x]| x * x).compile(&[crate::f64([2])]).unwrap().saved()
    }

    #[test]
    fn a_file_of_another_version_is_refused_by_its_name() {
        let message = decode(&encode_as("9.9.9", &square()).unwrap()).unwrap_err();
        assert_eq!(
            message,
            format!("the file was saved by Retrograd 9.9.9, and this is {VERSION}; save it anew with this version")
        );
    }

    #[test]
    fn a_file_of_another_form_is_refused_by_its_number() {
        let mut bytes = square().to_bytes().unwrap();
        bytes[8] = 1;
        assert!(decode(&bytes).unwrap_err().starts_with("the file has the form 1, and"));
    }

    #[test]
    fn a_checksum_over_nonsense_is_refused_too() {
        let body = [&postcard::to_stdvec(VERSION).unwrap()[..], &[0xff; 40]].concat();
        let guarded = [&(body.len() as u64).to_le_bytes()[..], &body].concat();
        let checksum = crc32fast::hash(&guarded);
        let bytes = [&MAGIC[..], &FORMAT.to_le_bytes(), &checksum.to_le_bytes(), &guarded].concat();
        assert!(decode(&bytes).unwrap_err().starts_with("the file cannot be read"));
    }
}
