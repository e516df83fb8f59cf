//! A Plan explains itself: what is kept and why, in words, as JSON and as pictures.

mod curve;
mod json;
mod picture;
mod report;

use std::fmt;

pub use curve::{Curve, CurvePoint};
pub use report::{LoopReport, ResidualReport};

use super::schedule::Sweep;
use super::spill::LONGEST_ON_DISK;
use super::{LoopFacts, Plan};

/// Bytes as people say them: `1.2 MB`, with kB = 1000.
pub fn bytes_in_words(bytes: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => {
            let number = format!("{:.2}", bytes as f64 / *size as f64);
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        None => format!("{bytes} bytes"),
    }
}

/// Bytes in words, and to the byte where words round.
pub(super) fn exactly(bytes: u64) -> String {
    if bytes < 1000 { bytes_in_words(bytes) } else { format!("{} ({bytes} bytes)", bytes_in_words(bytes)) }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan by `{}`: peak {}", self.strategy, exactly(self.bytes_peak))?;
        match self.budget {
            Some(budget) => writeln!(f, "budget {}", exactly(budget))?,
            None => writeln!(f, "no budget")?,
        }
        if self.bytes_spilled > 0 {
            writeln!(f, "on disk {}", exactly(self.bytes_spilled))?;
        }
        let (work, bound) = (self.decision.work, self.work_bound().max(1));
        writeln!(f, "work {:.3} times the least without a budget", work as f64 / bound as f64)?;
        for (what, bytes) in self.peak() {
            writeln!(f, "  at the peak: {what}, {}", bytes_in_words(bytes))?;
        }
        for [outer, inner] in &self.unnested {
            writeln!(f, "  a loop of {outer} steps with one of {inner} inside runs as one of {}", outer * inner)?;
        }
        for tile in &self.tiles {
            writeln!(f, "  a loop that treats elements alike runs in tiles of {tile} of them")?;
        }
        let too_long = |facts: &&LoopFacts| facts.depth == 0 && facts.count.is_some_and(|count| count > LONGEST_ON_DISK);
        for facts in self.facts.loops.iter().filter(too_long).filter(|_| self.facts.spill.is_some()) {
            writeln!(f, "  states of the loop at {} stay in memory: it has more than {LONGEST_ON_DISK} steps", facts.pos)?;
        }
        self.reports().iter().try_for_each(|report| write!(f, "{report}"))
    }
}

impl fmt::Display for LoopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = "  ".repeat(self.depth + 1);
        let place = if self.pos.is_known() { format!("loop at {}", self.pos) } else { "loop".into() };
        let steps = self.steps.map_or("steps known at run time".into(), |count| format!("{count} steps"));
        writeln!(f, "{indent}{place}: {steps}, {}", self.schedule)?;
        let records: Vec<String> = self.record_bytes.iter().map(|bytes| bytes_in_words(*bytes)).collect();
        let records = if records.is_empty() { "no records".into() } else { format!("a record {}", records.join(" or ")) };
        writeln!(f, "{indent}  a state {}, {records}, pool {}", bytes_in_words(self.state_bytes), exactly(self.pool_bytes))?;
        if let (Some(counts), Some(steps)) = (self.counts, self.steps) {
            let forward = counts.forward_steps();
            let factor = forward as f64 / steps.max(1) as f64;
            let shared = match self.sweep {
                Sweep::Paired | Sweep::Online => "the program's own loop included",
                Sweep::Alone => "besides the program's own",
            };
            writeln!(f, "{indent}  {forward} forward steps ({factor:.2} per step, {shared}), {} states held", counts.snapshots)?;
        }
        for residual in &self.residuals {
            let bytes = bytes_in_words(residual.bytes);
            writeln!(f, "{indent}  {} ({}, {bytes}): {}", residual.ty, residual.origin, residual.fate)?;
        }
        Ok(())
    }
}
