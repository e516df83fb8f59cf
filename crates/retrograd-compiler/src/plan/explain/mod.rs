//! A Plan explains itself: what is kept and why, in words, as JSON and as pictures.

mod curve;
mod json;
mod picture;
mod report;

use std::fmt;

pub use curve::{Curve, CurvePoint};
pub use report::{LoopReport, ResidualReport, Usage};

use crate::plan::analysis::bytes::{bytes_in_words, exactly};
use crate::plan::analysis::counts::UNKNOWN_STEPS;
use crate::plan::search::Plan;
use crate::plan::search::facts::LoopFacts;
use crate::plan::search::fit::{BYTES_WITHOUT_BUDGET, SLOTS_WITHOUT_BUDGET};
use crate::plan::search::spill::LONGEST_ON_DISK;
use retrograd_schedule::Sweep;

/// Seconds of a run that are worth a word.
const SECONDS_LEAST: f64 = 0.01;

/// Lines that read a value which are named.
const READERS: usize = 3;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan by `{}`: peak {}", self.strategy, exactly(self.bytes_peak))?;
        match (self.budget, self.offered) {
            (Some(budget), _) => writeln!(f, "budget {}", exactly(budget))?,
            (None, Some(offered)) => writeln!(f, "no budget: within what the machine can spare, {}", exactly(offered))?,
            (None, None) => writeln!(f, "no budget")?,
        }
        if self.budget.is_none() && self.facts.loops.iter().any(LoopFacts::is_open) {
            let (steps, bytes) = (with_commas(UNKNOWN_STEPS), bytes_in_words(BYTES_WITHOUT_BUDGET));
            writeln!(
                f,
                "a loop whose steps are known at run time is planned for {steps}, in {bytes} or \
                 {SLOTS_WITHOUT_BUDGET} states; a budget can be more"
            )?;
        }
        if let Some(near) = self.near {
            writeln!(
                f,
                "keeps to {}: words of more memory take longer than the steps that run again for that",
                exactly(near)
            )?;
        }
        if self.bytes_spilled > 0 {
            writeln!(f, "on disk {}", exactly(self.bytes_spilled))?;
        }
        let times = |of: u128| self.decision.work as f64 / of.max(1) as f64;
        let gap = 100.0 * (times(self.work_bound()) - 1.0);
        writeln!(
            f,
            "work {:.3} times the least without a budget, {gap:.1} % above the bound for this memory",
            times(self.work_least())
        )?;
        if self.seconds() >= SECONDS_LEAST {
            writeln!(f, "about {:.2} s by one thread in {}", self.seconds(), self.facts.vectors)?;
        }
        for (what, bytes) in self.peak() {
            writeln!(f, "  at the peak: {what}, {}", bytes_in_words(bytes))?;
        }
        for [outer, inner] in &self.coalesced {
            writeln!(
                f,
                "  a loop of {outer} steps and one of {inner} inside are coalesced into one of {}",
                outer * inner
            )?;
        }
        for log in &self.logs {
            let (rows, bytes) = (with_commas(log.rows), bytes_in_words(log.bytes));
            writeln!(
                f,
                "  the loop at {} keeps an undo log of what its steps overwrite: {rows} rows, {bytes}",
                log.pos
            )?;
        }
        for frame in &self.placed.frames {
            let (threads, bytes) = (frame.chunks, bytes_in_words(frame.bytes));
            writeln!(f, "  the steps of a map are shared by {threads} threads, each with {bytes} of its own")?;
        }
        for tile in &self.tiles {
            writeln!(f, "  a loop that treats elements alike is interchanged: tiles of {tile} of them")?;
        }
        for tile in &self.strips {
            writeln!(f, "  code outside of loops runs in tiles of {tile} rows of its arrays")?;
        }
        let too_long =
            |facts: &&LoopFacts| facts.depth == 0 && facts.count.is_some_and(|count| count > LONGEST_ON_DISK);
        for facts in self.facts.loops.iter().filter(too_long).filter(|_| self.facts.spill.is_some()) {
            writeln!(
                f,
                "  states of the loop at {} stay in memory: it has more than {LONGEST_ON_DISK} steps",
                facts.pos
            )?;
        }
        for residual in self.residuals() {
            writeln!(f, "  {residual}")?;
        }
        self.reports().iter().try_for_each(|report| write!(f, "{report}"))
    }
}

impl fmt::Display for ResidualReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResidualReport { origin, ty, bytes, fate, reason, read_at } = self;
        let lines: Vec<String> = read_at.iter().take(READERS).map(ToString::to_string).collect();
        let more =
            if read_at.len() > READERS { format!(" and {} more", read_at.len() - READERS) } else { String::new() };
        let readers = if lines.is_empty() { String::new() } else { format!("; read at {}{more}", lines.join(", ")) };
        write!(f, "{ty} ({origin}, {}): {fate}: {reason}{readers}", bytes_in_words(*bytes))
    }
}

/// A number as people write it: `1,000`.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let comma = |(k, digit): (usize, char)| {
        if k > 0 && (digits.len() - k).is_multiple_of(3) { vec![',', digit] } else { vec![digit] }
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

impl LoopReport {
    /// What is held at a time, and how often steps run.
    fn in_words(&self, usage: Usage) -> String {
        let many = |count: u64, one: &str| format!("{} {one}{}", with_commas(count), if count == 1 { "" } else { "s" });
        let sizes: Vec<String> = self.record_bytes.iter().map(|bytes| bytes_in_words(*bytes)).collect();
        let states = (usage.states > 0)
            .then(|| format!("{} of {}", many(usage.states, "snapshot"), bytes_in_words(self.state_bytes)));
        let records =
            (usage.records > 0).then(|| format!("{} of {}", many(usage.records, "record"), sizes.join(" or ")));
        let held: Vec<String> = states.into_iter().chain(records).collect();
        let held = if held.is_empty() { "nothing is held".into() } else { held.join(" and ") };
        let runs = match usage.runs {
            1 => "each step run once".into(),
            most => format!("each step run at most {} times", with_commas(most)),
        };
        format!("{held}, {runs}")
    }
}

impl fmt::Display for LoopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = "  ".repeat(self.depth + 1);
        let place = if self.pos.is_known() { format!("loop at {}", self.pos) } else { "loop".into() };
        let steps =
            self.steps.map_or("steps known at run time".into(), |count| format!("{} steps", with_commas(count)));
        match self.usage {
            None => writeln!(f, "{indent}{place}: {steps}, {}", self.schedule)?,
            Some(usage) => writeln!(f, "{indent}{place}: {steps}: {} ({})", self.in_words(usage), self.schedule)?,
        }
        let records: Vec<String> = self.record_bytes.iter().map(|bytes| bytes_in_words(*bytes)).collect();
        let records =
            if records.is_empty() { "no records".into() } else { format!("a record {}", records.join(" or ")) };
        writeln!(
            f,
            "{indent}  a state {}, {records}, pool {}",
            bytes_in_words(self.state_bytes),
            exactly(self.pool_bytes)
        )?;
        if let (Some(counts), Some(steps)) = (self.counts, self.steps) {
            let forward = counts.forward_steps();
            let factor = forward as f64 / steps.max(1) as f64;
            let shared = match self.sweep {
                Sweep::Split | Sweep::Online => "the program's own loop included",
                Sweep::Joint => "besides the program's own",
            };
            writeln!(
                f,
                "{indent}  {forward} forward steps ({factor:.2} per step, {shared}), {} states held",
                counts.snapshots
            )?;
        }
        for residual in &self.residuals {
            writeln!(f, "{indent}  {residual}")?;
        }
        Ok(())
    }
}
