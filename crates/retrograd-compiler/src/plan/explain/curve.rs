//! Predicted work against memory, from the least budget to none.

use super::json;
use crate::ir::{Error, ErrorKind};
use crate::plan::analysis::bytes::bytes_in_words;
use crate::plan::search::Plan;

/// A plan at one budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurvePoint {
    /// Peak of the plan.
    pub bytes: u64,
    /// Predicted work of a run, in picoseconds.
    pub work: u128,
    /// Whether it is the plan that was asked for.
    pub chosen: bool,
}

/// Plans of one strategy over budgets from the least to no limit.
#[derive(Clone, Debug)]
pub struct Curve {
    /// By ascending bytes.
    pub points: Vec<CurvePoint>,
}

/// Budgets between the least and none.
const POINTS: u32 = 18;

impl Curve {
    /// Plans at many budgets, and the one that was asked for.
    pub(in crate::plan) fn through(
        chosen: &Plan,
        at: impl Fn(Option<u64>) -> Result<Plan, Error>,
    ) -> Result<Curve, Error> {
        let free = at(None)?;
        let least = match at(Some(0)) {
            Ok(plan) => plan.bytes_peak,
            Err(Error { kind: ErrorKind::OverBudget { needed, .. }, .. }) => needed,
            Err(error) => return Err(error),
        };
        // Even steps of the ratio: the curve is steep where there is little.
        let ratio = (free.bytes_peak.max(1) as f64 / least.max(1) as f64).powf(1.0 / f64::from(POINTS));
        let budgets = (0..POINTS).map(|k| (least as f64 * ratio.powi(k as i32)).round() as u64);
        let mut points = vec![point(chosen, true), point(&free, false)];
        for budget in budgets {
            points.push(point(&at(Some(budget.max(least)))?, false));
        }
        points.sort_by_key(|point| (point.bytes, !point.chosen, point.work));
        // What is no faster than a plan of fewer bytes is none to be had for them.
        let mut least = u128::MAX;
        points.retain(|point| {
            let better = point.work < least;
            least = least.min(point.work);
            better || point.chosen
        });
        Ok(Curve { points })
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        json::curve(&self.points)
    }

    /// As lines of text: bytes, work relative to the least, and a mark at the plan that was asked for.
    pub fn to_text(&self) -> String {
        let least = self.points.iter().map(|point| point.work).min().unwrap_or(1).max(1);
        let line = |point: &CurvePoint| {
            let factor = point.work as f64 / least as f64;
            let bar = "#".repeat(((factor.log2() * 8.0).round() as usize).min(60) + 1);
            let mark = if point.chosen { " <- this plan" } else { "" };
            format!("{:>12}  {factor:>9.3} x  {bar}{mark}\n", bytes_in_words(point.bytes))
        };
        self.points.iter().map(line).collect()
    }

    /// As a picture.
    pub fn to_svg(&self) -> String {
        let (width, height, margin) = (640.0, 400.0, 60.0);
        let of = |value: fn(&CurvePoint) -> f64| {
            let all: Vec<f64> = self.points.iter().map(|point| value(point).max(1.0).log10()).collect();
            let (low, high) =
                (all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(f64::MIN, f64::max));
            all.into_iter().map(move |x| if high > low { (x - low) / (high - low) } else { 0.5 }).collect::<Vec<_>>()
        };
        let (bytes, work) = (of(|point| point.bytes as f64), of(|point| point.work as f64));
        let place = |k: usize| {
            (margin + bytes[k] * (width - 2.0 * margin), height - margin - work[k] * (height - 2.0 * margin))
        };
        let line: Vec<String> =
            (0..self.points.len()).map(|k| format!("{:.1},{:.1}", place(k).0, place(k).1)).collect();
        let least = self.points.iter().map(|point| point.work).min().unwrap_or(1).max(1);
        let dot = |(k, point): (usize, &CurvePoint)| {
            let (x, y) = place(k);
            let (radius, colour) = if point.chosen { (7, "#c03020") } else { (4, "#205080") };
            let title = format!("{}, {:.3} x", bytes_in_words(point.bytes), point.work as f64 / least as f64);
            format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" \
                 fill=\"{colour}\"><title>{title}</title></circle>\n"
            )
        };
        let dots: String = self.points.iter().enumerate().map(dot).collect();
        let label = |x: f64, y: f64, words: &str| format!("<text x=\"{x}\" y=\"{y}\">{words}</text>\n");
        let ends = [self.points.first(), self.points.last()]
            .map(|point| point.map_or(String::new(), |point| bytes_in_words(point.bytes)));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"white\"/>\n<polyline points=\"{}\" fill=\"none\" stroke=\"#205080\"/>\n{dots}{}{}{}</svg>\n",
            line.join(" "),
            label(margin, height - 20.0, &format!("{} (least)", ends[0])),
            label(width - 2.5 * margin, height - 20.0, &format!("{} (no limit)", ends[1])),
            label(10.0, 20.0, "work against memory, both logarithmic; the large dot is this plan"),
        )
    }
}

fn point(plan: &Plan, chosen: bool) -> CurvePoint {
    CurvePoint { bytes: plan.bytes_peak, work: plan.decision.work, chosen }
}
