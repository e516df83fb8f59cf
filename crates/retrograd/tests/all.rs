//! The integration tests of `retrograd`, in one binary: one link instead of 17.

mod budgets;
mod cache;
mod checks;
mod custom;
mod debug_nan;
mod derivatives;
mod errors;
mod hard;
mod hostile;
mod interchange;
mod masked;
mod methods;
mod probes;
mod progress;
mod ranges;
mod rounding;
mod special;
mod straight;
mod strips;
mod support;
mod tracer;
mod types;
mod values;
