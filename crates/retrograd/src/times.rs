//! What a compilation took.

use std::fmt;
use std::time::Instant;

use retrograd_jit::Time;

/// Seconds that each stage of a compilation took, in order: `trace`, `opt`, `diff`, `freeze`, `plan`, `lower`, `jit`.
/// Where a compilation was found in the [cache](crate::cache), only the trace took any.
///
/// ```
/// use retrograd::{f64, grad};
/// let compiled = grad(|[x]| x.sin()).compile(&[f64([])])?;
/// println!("{}", compiled.times); // trace 52.1 µs, opt 3.4 µs, …; together 4.21 ms
/// assert!(compiled.times.seconds() >= compiled.times.stages[0].1);
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Name and seconds of each stage that ran.
    pub stages: Vec<(&'static str, f64)>,
    /// Whether the rest was found in the cache.
    pub cached: bool,
}

impl Times {
    /// Seconds of all stages.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Runs a stage, and notes what it took.
    pub(crate) fn take<T>(&mut self, stage: &'static str, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = run();
        self.stages.push((stage, begin.elapsed().as_secs_f64()));
        result
    }

    /// These stages, and then others.
    pub(crate) fn then(mut self, other: Times) -> Times {
        self.stages.extend(other.stages);
        Times { cached: other.cached, ..self }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stages: Vec<String> =
            self.stages.iter().map(|(stage, seconds)| format!("{stage} {}", Time(*seconds))).collect();
        let cached = if self.cached { "the rest found in the cache" } else { "" };
        let parts: Vec<&str> =
            stages.iter().map(String::as_str).chain((!cached.is_empty()).then_some(cached)).collect();
        write!(f, "{}; together {}", parts.join(", "), Time(self.seconds()))
    }
}
