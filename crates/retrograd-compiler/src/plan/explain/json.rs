//! A Plan as JSON, for programs that read it.

use std::fmt::Write;

use super::{CurvePoint, LoopReport, ResidualReport};
use crate::plan::search::Plan;
use crate::plan::transform::undo::Logged;
use retrograd_schedule::Sweep;

impl Plan {
    /// The whole plan as JSON: peak and its parts, work and its bound, the tiles of loops and of other code that run in
    /// tiles, the loops in loops that run as one, the loops that keep logs, every loop with its schedule, every value
    /// that could be kept.
    pub fn to_json(&self) -> String {
        let peak =
            self.peak().into_iter().map(|(what, bytes)| object(&[("what", text(&what)), ("bytes", bytes.to_string())]));
        let fields = [
            ("strategy", text(self.strategy)),
            ("budget", self.budget.map_or("null".into(), |budget| budget.to_string())),
            ("offered", self.offered.map_or("null".into(), |offered| offered.to_string())),
            ("bytes_peak", self.bytes_peak.to_string()),
            ("bytes_spilled", self.bytes_spilled.to_string()),
            ("peak", list(peak)),
            ("work", self.decision.work.to_string()),
            ("seconds", self.seconds().to_string()),
            ("work_least", self.work_least().to_string()),
            ("work_bound", self.work_bound().to_string()),
            ("residuals", list(self.residuals().iter().map(residual_json))),
            ("tiles", list(self.tiles.iter().map(usize::to_string))),
            ("strips", list(self.strips.iter().map(usize::to_string))),
            ("coalesced", list(self.coalesced.iter().map(|steps| list(steps.iter().map(u64::to_string))))),
            ("logs", list(self.logs.iter().map(log_json))),
            (
                "effort",
                object(&[("splits", self.effort.splits.to_string()), ("placed", self.effort.placed.to_string())]),
            ),
            ("loops", list(self.reports().iter().map(loop_json))),
        ];
        object(&fields) + "\n"
    }
}

/// A curve as JSON.
pub(super) fn curve(points: &[CurvePoint]) -> String {
    let point = |point: &CurvePoint| {
        let chosen = if point.chosen { "true" } else { "false" };
        object(&[("bytes", point.bytes.to_string()), ("work", point.work.to_string()), ("chosen", chosen.into())])
    };
    list(points.iter().map(point)) + "\n"
}

fn log_json(log: &Logged) -> String {
    object(&[("line", text(&log.pos.to_string())), ("rows", log.rows.to_string()), ("bytes", log.bytes.to_string())])
}

fn loop_json(report: &LoopReport) -> String {
    let number = |number: Option<u128>| number.map_or("null".into(), |number| number.to_string());
    let sweep = match report.sweep {
        Sweep::Split => "split",
        Sweep::Online => "online",
        Sweep::Joint => "joint",
    };
    let counts = |count: fn(&retrograd_schedule::Counts) -> u128| number(report.counts.as_ref().map(count));
    object(&[
        ("line", text(&report.pos.to_string())),
        ("depth", report.depth.to_string()),
        ("steps", number(report.steps.map(u128::from))),
        ("schedule", text(&report.schedule)),
        ("sweep", text(sweep)),
        ("state_bytes", report.state_bytes.to_string()),
        ("record_bytes", list(report.record_bytes.iter().map(u64::to_string))),
        ("pool_bytes", report.pool_bytes.to_string()),
        ("forward_steps", counts(|counts| counts.forward_steps())),
        ("advances", counts(|counts| counts.advances)),
        ("taped", counts(|counts| counts.taped)),
        ("youturns", counts(|counts| counts.youturns)),
        ("snapshots", counts(|counts| counts.snapshots)),
        ("spills", counts(|counts| counts.spills)),
        ("snapshots_most", number(report.usage.map(|usage| u128::from(usage.states)))),
        ("records_most", number(report.usage.map(|usage| u128::from(usage.records)))),
        ("runs_most", number(report.usage.map(|usage| u128::from(usage.runs)))),
        ("residuals", list(report.residuals.iter().map(residual_json))),
    ])
}

fn residual_json(residual: &ResidualReport) -> String {
    object(&[
        ("type", text(&residual.ty.to_string())),
        ("origin", text(&residual.origin)),
        ("bytes", residual.bytes.to_string()),
        ("fate", text(&residual.fate)),
        ("reason", text(&residual.reason)),
        ("read_at", list(residual.read_at.iter().map(|pos| text(&pos.to_string())))),
    ])
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{}: {value}", text(name))).collect();
    format!("{{{}}}", fields.join(", "))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if (c as u32) < 0x20 => write!(quoted, "\\u{:04x}", c as u32).expect("a String takes everything"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(text("a \"b\" \\ \n"), r#""a \"b\" \\ \u000a""#);
    }
}
