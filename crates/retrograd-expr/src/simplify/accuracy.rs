//! The form that loses the fewest digits.

use egg::{Extractor, Id};
use retrograd::pipeline::Wanted;
use retrograd::{Array, Error, ErrorKind, Pos};

use super::{Cost, Simplifier, Weight, opaque, term};
use crate::dag::Dag;
use crate::evaluate::{Bindings, Derived, elements};
use crate::expr::Expr;

/// Points at which forms are compared.
const POINTS: usize = 256;

/// Of the forms that the laws reach, the one with the least error in the given ranges of its variables, and its mean
/// error in bits.
///
/// Forms are evaluated in 32 bits at fixed points of the ranges and held against the expression in 64 bits: what
/// cancels there cancels in both, 29 bits later. The expression itself takes part.
///
/// ```
/// use retrograd_expr::{Assumptions, Expr, Simplifier, most_accurate};
/// let simplifier = Simplifier { assumptions: Assumptions::new().assume("x > 0")?, ..Simplifier::default() };
/// let (best, bits) = most_accurate(&simplifier, &Expr::parse("sqrt(x + 1) - sqrt(x)")?, &[("x", 1e3, 1e6)])?;
/// assert!(bits < 3.0, "{best}: {bits}");
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn most_accurate(simplifier: &Simplifier, expr: &Expr, ranges: &[(&str, f64, f64)]) -> Result<(Expr, f64), Error> {
    let names = expr.free_vars();
    if let Some(name) = names.iter().find(|name| !ranges.iter().any(|(known, ..)| known == name)) {
        return Err(Error::new(
            ErrorKind::Argument,
            Pos::unknown(),
            format!("`{name}` has no range to draw points from"),
        ));
    }
    let (outer, letters) = opaque(&Dag::of(expr));
    if !letters.is_empty() {
        return Err(Error::new(
            ErrorKind::Unsupported,
            Pos::unknown(),
            "accuracy is compared for functions of numbers alone",
        ));
    }
    let runner = simplifier.saturated(&outer, false)?;
    let mut forms = vec![expr.clone()];
    for cost in [Cost::Size, Cost::Work] {
        let extractor = Extractor::new(&runner.egraph, Weight(cost));
        for node in &runner.egraph[runner.egraph.find(runner.roots[0])].nodes {
            let part = |id: Id| term::to_expr(&extractor.find_best(id).1);
            forms.push(Expr::new(node.op.clone(), node.args.iter().map(|id| part(*id)).collect()));
        }
    }
    let points = Points::new(ranges);
    let exact = points.values(expr, |x| Array::f64([POINTS], x.iter().map(|x| f64::from(*x)).collect()))?;
    let mut best: Option<(f64, usize, Expr)> = None;
    for form in forms {
        let values = points.values(&form, |x| Array::f32([POINTS], x.to_vec()))?;
        let error = exact.iter().zip(&values).map(|(exact, value)| bits(*exact, *value)).sum::<f64>() / POINTS as f64;
        let better = best
            .as_ref()
            .is_none_or(|(least, size, _)| error < *least - 0.01 || (error < *least + 0.01 && form.size() < *size));
        if better {
            best = Some((error, form.size(), form));
        }
    }
    best.map(|(error, _, form)| (form, error))
        .ok_or_else(|| Error::new(ErrorKind::Argument, Pos::unknown(), "there is no form"))
}

/// How many of the last bits of a 32-bit value are wrong.
fn bits(exact: f64, value: f64) -> f64 {
    match (exact.is_finite(), value.is_finite()) {
        (false, _) => 0.0,
        (true, false) => 24.0,
        (true, true) => {
            let unit = f64::from(f32::EPSILON) * exact.abs().max(f64::from(f32::MIN_POSITIVE));
            (1.0 + (value - exact).abs() / unit).log2().min(24.0)
        }
    }
}

struct Points(Vec<(String, Vec<f32>)>);

impl Points {
    /// Points of a fixed sequence (multiples of irrational numbers), evenly by magnitude where a range is wide and
    /// positive.
    fn new(ranges: &[(&str, f64, f64)]) -> Points {
        const STEPS: [f64; 4] =
            [0.618_033_988_749_894_9, 0.414_213_562_373_095_1, 0.732_050_807_568_877_2, 0.236_067_977_499_789_8];
        let point = |k: usize, place: usize, low: f64, high: f64| {
            let at = ((k + 1) as f64 * STEPS[place % STEPS.len()] + place as f64 * 0.137).fract();
            let x = if low > 0.0 && high / low > 100.0 { low * (high / low).powf(at) } else { low + at * (high - low) };
            x as f32
        };
        let column = |(place, (name, low, high)): (usize, &(&str, f64, f64))| {
            ((*name).to_owned(), (0..POINTS).map(|k| point(k, place, *low, *high)).collect())
        };
        Points(ranges.iter().enumerate().map(column).collect())
    }

    fn values(&self, expr: &Expr, array: impl Fn(&[f32]) -> Array) -> Result<Vec<f64>, Error> {
        let at: Bindings = self.0.iter().map(|(name, x)| (name.clone(), array(x))).collect();
        let found = elements(&Derived::new(std::slice::from_ref(expr), Wanted::Results, &[]).run(&at)?[0]);
        // A form without variables is one number.
        Ok(if found.len() == 1 { vec![found[0]; POINTS] } else { found })
    }
}
