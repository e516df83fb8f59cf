//! A Plan in words.

use std::fmt;

use super::schedule::{self, Schedule, Sweep};
use super::{LoopDecision, LoopFacts, Plan, Tape};

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
        for tile in &self.tiles {
            writeln!(f, "  a loop that treats elements alike runs in tiles of {tile} of them")?;
        }
        for facts in &self.facts.loops {
            explain_loop(f, facts, self.decision.loops[&facts.bwd])?;
        }
        Ok(())
    }
}

fn explain_loop(f: &mut fmt::Formatter<'_>, facts: &LoopFacts, decision: LoopDecision) -> fmt::Result {
    let indent = "  ".repeat(facts.depth + 1);
    let place = if facts.pos.is_known() { format!("loop at {}", facts.pos) } else { "loop".into() };
    let steps = facts.count.map_or("steps known at run time".into(), |count| format!("{count} steps"));
    writeln!(f, "{indent}{place}: {steps}, {}", decision.schedule)?;
    writeln!(
        f,
        "{indent}  state {} a snapshot, residuals {} a step",
        bytes_in_words(facts.state_bytes),
        bytes_in_words(facts.residual_bytes())
    )?;
    if let Some(count) = facts.count {
        let slots = schedule::slots(decision.schedule, facts.sweep, count);
        let forward = schedule::forward_steps(decision.schedule, facts.sweep, count);
        let rows = if decision.schedule.tapes() { schedule::tape_rows(decision.schedule, count) } else { 0 };
        let factor = forward as f64 / (count.max(1)) as f64;
        let shared = match facts.sweep {
            Sweep::Paired => "the program's own loop included",
            Sweep::Alone => "besides the program's own",
        };
        writeln!(
            f,
            "{indent}  {} snapshots, {rows} tape rows, {forward} forward steps ({factor:.2} per step, {shared})",
            slots.saturating_sub(1)
        )?;
    }
    for residual in &facts.residuals {
        let fate = match (decision.schedule, decision.tape) {
            (Schedule::KeepAll | Schedule::Periodic { .. }, Tape::Residuals) => "kept",
            (Schedule::KeepAll | Schedule::Periodic { .. }, Tape::States) if residual.origin == "state" => "kept",
            (Schedule::KeepAll | Schedule::Periodic { .. } | Schedule::Revolve { .. }, _) => "recomputed from the state",
        };
        writeln!(f, "{indent}  residual {} ({}, {}): {fate}", residual.ty, residual.origin, bytes_in_words(residual.ty.bytes() as u64))?;
    }
    Ok(())
}
