//! What a run took.

use std::fmt;

use retrograd_compiler::lower::COUNTS;

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Bytes that the runtime holds for this run, counted where it allocated them, and of outputs that were made in
    /// the caller's memory.
    pub bytes_peak: u64,
    /// Bytes on the disk at their most, counted where they were written.
    pub bytes_spilled: u64,
    /// Seconds in machine code.
    pub seconds: f64,
    /// What was counted, in a run of [`Executable::counting`](crate::Executable::counting).
    pub counts: Option<Counts>,
}

/// What machine code did, counted by itself.
///
/// Bytes are those of loads, stores, copies and fills as the kernel has them, all lanes of vector loops and the
/// operands of routines included; some of them stay in registers and caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loop nests: vector loops, of whatever length.
    pub nests: u64,
    /// Calls of routines (factorisations, sorts and their like).
    pub calls: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

impl Counts {
    /// From the words of the kernel that counts.
    pub(crate) fn of(words: [i64; COUNTS]) -> Counts {
        let [nests, calls, bytes_read, bytes_written] = words.map(i64::cast_unsigned);
        Counts { nests, calls, bytes_read, bytes_written }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stats { bytes_peak, bytes_spilled, seconds, counts } = self;
        write!(f, "{}, peak {bytes_peak} bytes", Time(*seconds))?;
        if *bytes_spilled > 0 {
            write!(f, " and {bytes_spilled} on disk")?;
        }
        counts.map_or(Ok(()), |counts| write!(f, "; {counts}"))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { nests, calls, bytes_read, bytes_written } = self;
        write!(
            f,
            "{nests} loop nests, {calls} calls of routines, {bytes_read} bytes read, {bytes_written} bytes written"
        )
    }
}

/// Seconds in words.
///
/// ```
/// assert_eq!(retrograd_jit::Time(0.0123).to_string(), "12.30 ms");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Time(pub f64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds if seconds < 1e-3 => write!(f, "{:.1} µs", 1e6 * seconds),
            seconds if seconds < 1.0 => write!(f, "{:.2} ms", 1e3 * seconds),
            seconds => write!(f, "{seconds:.2} s"),
        }
    }
}
