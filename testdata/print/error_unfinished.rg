fn main(%0: f64) -> f64 {
  %1: f64 = neg %0
// ---- expected
// error: error_unfinished.rg:3: parse error: expected an instruction or `return`, found the end of the text
