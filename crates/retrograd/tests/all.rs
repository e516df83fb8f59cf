//! The integration tests of `retrograd`, in one binary, so that they are linked once. What counts compilations of the
//! whole process (`cache`) has one of its own.

mod budgets;
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
