fn main(%0: f64) -> f64 {
  %1: f64 = neg %0 @ "model.py:3
  return %1
}
// ---- expected
// error: error_quote.rg:2: parse error: expected a closing `"` on the same line
