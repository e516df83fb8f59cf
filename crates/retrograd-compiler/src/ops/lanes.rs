//! Scalar functions as straight sequences of arithmetic: the same bits in the interpreter and in every back end.
#![allow(missing_docs, reason = "stand-in until the sequences land")]
pub fn exp(x: f64) -> f64 {
    x.exp()
}
pub fn log(x: f64) -> f64 {
    x.ln()
}
pub fn sin(x: f64) -> f64 {
    x.sin()
}
pub fn cos(x: f64) -> f64 {
    x.cos()
}
pub fn tanh(x: f64) -> f64 {
    x.tanh()
}
