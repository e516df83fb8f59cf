//! Pictures of functions: one of one variable with its derivatives.

use std::fmt::Write;

use retrograd::{Array, Error, ErrorKind, Pos};

use crate::derivative::diff;
use crate::evaluate::{Bindings, elements, evaluate};
use crate::expr::Expr;

/// Points of a curve.
const POINTS: usize = 600;

/// Values of a function of one variable and of its derivatives, evenly between two points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The name of the variable.
    pub name: String,
    /// Its least and its greatest value.
    pub range: (f64, f64),
    /// What each curve shows, and its values.
    pub curves: Vec<(String, Vec<f64>)>,
}

/// A function of one variable with its derivatives up to an order.
///
/// ```
/// use retrograd_expr::{Expr, plot};
/// let curves = plot(&Expr::parse("sin(x)")?, (0.0, 6.3), 1)?;
/// assert_eq!(curves.curves[1].0, "cos(x)");
/// assert!(curves.to_svg().starts_with("<svg") && curves.to_text().lines().count() > 10);
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn plot(expr: &Expr, range: (f64, f64), order: usize) -> Result<Curves, Error> {
    let names = expr.free_vars();
    let [name] = &names[..] else {
        let message = format!("a plot shows a function of one variable, found {} in `{expr}`", names.len());
        return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
    };
    let step = (range.1 - range.0) / (POINTS - 1) as f64;
    let points = Array::f64([POINTS], (0..POINTS).map(|k| range.0 + step * k as f64).collect());
    let at = Bindings::new().with(name, points);
    let (mut shown, mut curves) = (expr.clone(), vec![]);
    for k in 0..=order {
        if k > 0 {
            shown = diff(&shown, name)?;
        }
        let values = elements(&evaluate(&shown, &at)?);
        curves.push((shown.to_string(), if values.len() == 1 { vec![values[0]; POINTS] } else { values }));
    }
    Ok(Curves { name: name.clone(), range, curves })
}

impl Curves {
    /// The least and the greatest finite value, apart.
    fn heights(&self) -> (f64, f64) {
        let finite = || self.curves.iter().flat_map(|(_, values)| values).copied().filter(|x| x.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        if low < high {
            (low, high)
        } else if low.is_finite() {
            (low - 1.0, low + 1.0)
        } else {
            (-1.0, 1.0)
        }
    }

    /// A picture; where a function is not finite its curve is interrupted.
    pub fn to_svg(&self) -> String {
        const WIDTH: f64 = 720.0;
        const HEIGHT: f64 = 420.0;
        const EDGE: f64 = 50.0;
        const COLOURS: [&str; 5] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e"];
        let (low, high) = self.heights();
        let x = |k: usize| EDGE + (WIDTH - 2.0 * EDGE) * k as f64 / (POINTS - 1) as f64;
        let y = |value: f64| HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * (value - low) / (high - low);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n"
        );
        let (inner_width, inner_height) = (WIDTH - 2.0 * EDGE, HEIGHT - 2.0 * EDGE);
        let _ = writeln!(
            out,
            "<rect x=\"{EDGE}\" y=\"{EDGE}\" width=\"{inner_width}\" height=\"{inner_height}\" fill=\"none\" \
             stroke=\"#999\"/>"
        );
        let mut words = |at: (f64, f64), anchor: &str, text: String| {
            let _ =
                writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>", at.0, at.1, escaped(&text));
        };
        words((EDGE, HEIGHT - EDGE + 18.0), "middle", format!("{} = {}", self.name, self.range.0));
        words((WIDTH - EDGE, HEIGHT - EDGE + 18.0), "middle", format!("{}", self.range.1));
        words((EDGE - 6.0, HEIGHT - EDGE), "end", format!("{low:.3}"));
        words((EDGE - 6.0, EDGE + 4.0), "end", format!("{high:.3}"));
        for (n, (label, values)) in self.curves.iter().enumerate() {
            let colour = COLOURS[n % COLOURS.len()];
            let short: String = label.chars().take(60).collect();
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
                EDGE + 8.0,
                EDGE + 16.0 * (n + 1) as f64,
                escaped(&short)
            );
            for run in runs(values) {
                let points: Vec<String> = run.map(|k| format!("{:.1},{:.1}", x(k), y(values[k]))).collect();
                let _ = writeln!(
                    out,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
                    points.join(" ")
                );
            }
        }
        out + "</svg>\n"
    }

    /// For a terminal: a letter for each curve.
    pub fn to_text(&self) -> String {
        const COLUMNS: usize = 72;
        const ROWS: usize = 20;
        let (low, high) = self.heights();
        let mut cells = vec![vec![' '; COLUMNS]; ROWS];
        for (n, (_, values)) in self.curves.iter().enumerate() {
            let sign = ['*', 'o', '+', 'x', '.'][n % 5];
            for column in 0..COLUMNS {
                let value = values[column * (POINTS - 1) / (COLUMNS - 1)];
                if value.is_finite() {
                    let row = ((high - value) / (high - low) * (ROWS - 1) as f64).round() as usize;
                    cells[row.min(ROWS - 1)][column] = sign;
                }
            }
        }
        let mut out = String::new();
        for (n, (label, _)) in self.curves.iter().enumerate() {
            let _ = writeln!(out, "{} {label}", ['*', 'o', '+', 'x', '.'][n % 5]);
        }
        for (row, line) in cells.iter().enumerate() {
            let label = if row == 0 {
                format!("{high:9.3}")
            } else if row == ROWS - 1 {
                format!("{low:9.3}")
            } else {
                " ".repeat(9)
            };
            let _ = writeln!(out, "{label} |{}", line.iter().collect::<String>().trim_end());
        }
        let _ = writeln!(out, "{:>10}+{}", "", "-".repeat(COLUMNS));
        let _ = writeln!(out, "{:>11}{:<36}{:>36}", "", format!("{} = {}", self.name, self.range.0), self.range.1);
        out
    }
}

/// Places of finite values that follow each other.
fn runs(values: &[f64]) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = vec![];
    for k in (0..values.len()).filter(|k| values[*k].is_finite()) {
        match runs.last_mut() {
            Some(run) if run.end == k => run.end = k + 1,
            Some(_) | None => runs.push(k..k + 1),
        }
    }
    runs
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
