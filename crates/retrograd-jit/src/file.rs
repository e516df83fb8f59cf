//! Executables as files.
//!
//! A file holds the kernel, not machine code, so it is loaded on any machine, by any back end. It is, in this order: eight bytes that say
//! what it is, the version of this form, the checksum of all that follows, how many bytes that is, and then the version of Retrograd that
//! saved it and the rest, by postcard. Numbers of the header are little-endian.
//!
//! The version of Retrograd must be the one that loads: functions and routines that a kernel calls belong to it, and so do their bits.

use std::collections::BTreeMap;
use std::path::Path;

use retrograd_compiler::fuse::Fault;
use retrograd_compiler::fuse::kernel::Kernel;
use retrograd_compiler::ir::{Error, ErrorKind, Pos, Type};

/// What a front end wants to find again in a file, by name.
pub type Notes = BTreeMap<String, String>;

/// How files begin. The bytes that are no text show copies that were made as text.
const MAGIC: [u8; 8] = *b"\x89RGX\r\n\x1a\n";

/// To be raised by a release that stores kernels in another way than the one before; a test holds a file against it.
const FORMAT: u32 = 1;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Bytes of the magic, the version of the form, the checksum and the length.
const HEADER_BYTES: usize = 24;

/// What is stored of an executable: the kernel, types of inputs and outputs, what its faults mean, notes.
pub(crate) type Saved = (Kernel, Vec<Type>, Vec<Type>, Vec<Fault>, Notes);

/// The same, borrowed.
pub(crate) type Saving<'s> = (&'s Kernel, &'s [Type], &'s [Type], &'s [Fault], &'s Notes);

/// Whether bytes are those of a saved executable, of any version.
///
/// ```
/// assert!(!retrograd_jit::is_saved(b"func @main(%0: f64) -> f64 {"));
/// ```
pub fn is_saved(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes of a file.
pub(crate) fn encode(saving: Saving<'_>) -> Result<Vec<u8>, Error> {
    encode_as(VERSION, saving)
}

fn encode_as(version: &str, saving: Saving<'_>) -> Result<Vec<u8>, Error> {
    let refused = |error: postcard::Error| {
        let message = format!("this cannot be saved: it calls a routine that is not one of Retrograd's own ({error})");
        Error::new(ErrorKind::Unsupported, Pos::unknown(), message)
    };
    let mut guarded = vec![0; 8];
    guarded.extend(postcard::to_stdvec(version).map_err(refused)?);
    guarded.extend(postcard::to_stdvec(&saving).map_err(refused)?);
    let length = (guarded.len() - 8) as u64;
    guarded[..8].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&guarded);
    Ok([&MAGIC[..], &FORMAT.to_le_bytes(), &checksum.to_le_bytes(), &guarded].concat())
}

/// What the bytes of a file say; the error says what is wrong with them.
pub(crate) fn decode(bytes: &[u8]) -> Result<Saved, String> {
    if !is_saved(bytes) {
        return Err("this is no executable that Retrograd has saved".into());
    }
    let Some((header, body)) = bytes.split_at_checked(HEADER_BYTES) else { return Err("the file is cut off in its header".into()) };
    let number = |from: usize| u32::from_le_bytes(header[from..from + 4].try_into().expect("four bytes"));
    if number(8) != FORMAT {
        return Err(format!(
            "the file has the form {}, and Retrograd {VERSION} reads the form {FORMAT}; save it anew with this version",
            number(8)
        ));
    }
    let length = u64::from_le_bytes(header[16..].try_into().expect("eight bytes"));
    if length != body.len() as u64 {
        return Err(format!("the file is cut off or damaged: {length} bytes should follow its header, and {} do", body.len()));
    }
    if number(12) != crc32fast::hash(&bytes[16..]) {
        return Err("the file is damaged: its checksum differs".into());
    }
    let damaged = |error: postcard::Error| format!("the file cannot be read ({error}); save it anew with Retrograd {VERSION}");
    let (version, body) = postcard::take_from_bytes::<String>(body).map_err(damaged)?;
    if version != VERSION {
        return Err(format!("the file was saved by Retrograd {version}, and this is {VERSION}; save it anew with this version"));
    }
    match postcard::take_from_bytes::<Saved>(body).map_err(damaged)? {
        (saved, []) => Ok(saved),
        (_, rest) => Err(format!("the file has {} bytes too many", rest.len())),
    }
}

/// An error with a file.
pub(crate) fn error(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Argument, Pos::unknown(), format!("{}: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> (Kernel, Notes) {
        (Kernel { arena_bytes: 12345, ..Kernel::default() }, Notes::from([("name".into(), "nothing".into())]))
    }

    #[test]
    fn what_is_saved_is_read() {
        let (kernel, notes) = nothing();
        let bytes = encode((&kernel, &[Type::f64([2])], &[], &[], &notes)).unwrap();
        let (read, inputs, outputs, faults, read_notes) = decode(&bytes).unwrap();
        assert_eq!((read.arena_bytes, inputs, outputs, faults, read_notes), (12345, vec![Type::f64([2])], vec![], vec![], notes));
    }

    #[test]
    fn a_file_of_another_version_is_refused_by_its_name() {
        let (kernel, notes) = nothing();
        let bytes = encode_as("9.9.9", (&kernel, &[], &[], &[], &notes)).unwrap();
        let message = decode(&bytes).unwrap_err();
        assert_eq!(message, format!("the file was saved by Retrograd 9.9.9, and this is {VERSION}; save it anew with this version"));
    }

    #[test]
    fn a_file_of_another_form_is_refused_by_its_number() {
        let (kernel, notes) = nothing();
        let mut bytes = encode((&kernel, &[], &[], &[], &notes)).unwrap();
        bytes[8] += 1;
        assert!(decode(&bytes).unwrap_err().starts_with(&format!("the file has the form {}", FORMAT + 1)));
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
