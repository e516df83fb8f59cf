//! States on a disk: one file for a run, which nobody else sees and nothing leaves behind.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use retrograd_compiler::ir::{Error, ErrorKind, Pos};
use retrograd_schedule::SUM_BYTES;

/// The file of one run.
pub(crate) struct SpillFile {
    file: File,
    /// Where it is, on systems that cannot remove an open file at once; it goes with this.
    left: Option<PathBuf>,
    directory: PathBuf,
    /// One past the highest byte that was written.
    bytes: u64,
    error: Option<Error>,
}

/// How many bytes a second are written to a directory, and read again: that of a few megabytes.
///
/// ```
/// assert!(retrograd_jit::bytes_per_second(&std::env::temp_dir())? > 0);
/// # Ok::<(), retrograd_compiler::ir::Error>(())
/// ```
pub fn bytes_per_second(directory: &Path) -> Result<u64, Error> {
    const STATES: u64 = 8;
    let mut file = SpillFile::create(directory)?;
    let mut state = vec![1; 1 << 20];
    let place = |k: u64| k * (state.len() as u64 + SUM_BYTES);
    let places: Vec<u64> = (0..STATES).map(place).collect();
    let begin = Instant::now();
    let written = !places.iter().any(|at| file.write(*at, 0, &state));
    let failed = !written || places.iter().any(|at| file.read(*at, 0, &mut state));
    let seconds = begin.elapsed().as_secs_f64();
    match file.error().filter(|_| failed) {
        Some(error) => Err(error),
        None => Ok(((2 * STATES * state.len() as u64) as f64 / seconds.max(1e-9)) as u64),
    }
}

/// Distinguishes the files of one process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl SpillFile {
    /// A new file in a directory. Where the system allows it, its name is gone before anything is written, so that
    /// nothing is left behind even by a process that is killed.
    pub(crate) fn create(directory: &Path) -> Result<SpillFile, Error> {
        let refused = |error: io::Error| {
            let message = format!("no file for spilled states can be made in `{}`: {error}", directory.display());
            Error::new(ErrorKind::Disk, Pos::unknown(), message)
        };
        if directory.as_os_str().is_empty() {
            return Err(Error::new(
                ErrorKind::Argument,
                Pos::unknown(),
                "the directory for spilled states has no name",
            ));
        }
        let (path, file) = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("retrograd-{}-{number}.spill", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                // Of a process that had this number before and was killed on a system that kept its file.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refused(error)),
            }
        };
        let left = if std::fs::remove_file(&path).is_ok() { None } else { Some(path) };
        Ok(SpillFile { file, left, directory: directory.to_owned(), bytes: 0, error: None })
    }

    /// Bytes that the run took on the disk at their most.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Why the run ended, if it was the disk.
    pub(crate) fn error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Writes a state and its sum; whether that failed.
    fn write(&mut self, at: u64, step: u64, state: &[u8]) -> bool {
        let end = at + state.len() as u64;
        let sum = sum(at, step, state).to_le_bytes();
        let written = write_all(&mut self.file, state, at).and_then(|()| write_all(&mut self.file, &sum, end));
        self.bytes = self.bytes.max(end + SUM_BYTES);
        let failed = |error: io::Error| {
            format!("a state of {} bytes could not be written in `{}`: {error}", state.len(), self.directory.display())
        };
        self.fails(written.map_err(failed))
    }

    /// Reads a state and looks at its sum; whether that failed.
    fn read(&mut self, at: u64, step: u64, state: &mut [u8]) -> bool {
        let mut found = [0; SUM_BYTES as usize];
        let read = read_all(&mut self.file, state, at)
            .and_then(|()| read_all(&mut self.file, &mut found, at + state.len() as u64));
        let failed = |error: io::Error| {
            format!("a state of {} bytes could not be read in `{}`: {error}", state.len(), self.directory.display())
        };
        let whole = read.map_err(failed).and_then(|()| {
            let changed = || {
                format!(
                    "a state in `{}` is not what was written: somebody else has changed the file",
                    self.directory.display()
                )
            };
            if u64::from_le_bytes(found) == sum(at, step, state) { Ok(()) } else { Err(changed()) }
        });
        self.fails(whole)
    }

    fn fails(&mut self, outcome: Result<(), String>) -> bool {
        match outcome {
            Ok(()) => false,
            Err(message) => {
                self.error = Some(Error::new(ErrorKind::Disk, Pos::unknown(), message));
                true
            }
        }
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        if let Some(path) = &self.left {
            // A file that cannot be removed is no reason to lose a result; the system's own cleaning takes it.
            drop(std::fs::remove_file(path));
        }
    }
}

/// A number that other bytes, or the same at another place, or of another step, would hardly have: a place is used
/// again, and what was there before must not pass for what was lost.
fn sum(at: u64, step: u64, bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<32>();
    // Four at a time, so that none waits for another.
    let mut lanes = [1, 2, 3, 4].map(|lane: u64| mix(mix(lane, at), step));
    for chunk in words {
        let (parts, _) = chunk.as_chunks::<8>();
        for (lane, part) in lanes.iter_mut().zip(parts) {
            *lane = mix(*lane, u64::from_le_bytes(*part));
        }
    }
    let all = lanes.iter().fold(bytes.len() as u64, |sum, lane| mix(sum, *lane));
    rest.iter().fold(all, |sum, byte| mix(sum, u64::from(*byte)))
}

#[cfg(unix)]
fn write_all(file: &mut File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_all(file: &mut File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_all(file: &mut File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn read_all(file: &mut File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Writes a state for machine code; whether the run must end.
///
/// # Safety
/// `spill` is the file of the run; at `state` are `bytes` of the arena that nothing changes meanwhile.
pub(crate) unsafe extern "C" fn spill(spill: *mut SpillFile, at: u64, step: u64, state: *const u8, bytes: usize) -> u8 {
    // SAFETY: the caller promises it: machine code passes on what it was called with, and runs on one thread here.
    let spill = unsafe { &mut *spill };
    // SAFETY: the caller promises it: the plan gave the pool at least a state.
    let state = unsafe { std::slice::from_raw_parts(state, bytes) };
    u8::from(spill.write(at, step, state))
}

/// Reads a state for machine code; whether the run must end.
///
/// # Safety
/// As for [`spill`], with bytes that nothing else refers to meanwhile.
pub(crate) unsafe extern "C" fn fetch(spill: *mut SpillFile, at: u64, step: u64, state: *mut u8, bytes: usize) -> u8 {
    // SAFETY: as for `spill`.
    let spill = unsafe { &mut *spill };
    // SAFETY: as for `spill`.
    let state = unsafe { std::slice::from_raw_parts_mut(state, bytes) };
    u8::from(spill.read(at, step, state))
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn a_sum_tells_bytes_places_and_steps_apart() {
        let state = [7_u8; 100];
        let mut other = state;
        other[99] ^= 1;
        let sums = [
            sum(0, 0, &state),
            sum(8, 0, &state),
            sum(0, 1, &state),
            sum(0, 8, &state),
            sum(0, 0, &other),
            sum(0, 0, &state[..99]),
            0,
        ];
        for (k, one) in sums.iter().enumerate() {
            assert!(sums[..k].iter().all(|other| other != one));
        }
    }
}
