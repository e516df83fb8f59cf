fn main(%0: f64) -> f64 {
  %1: f64 = tahn %0
  return %1
}
// ---- expected
// error: error_unknown_op.rg:2: parse error: unknown op `tahn`; did you mean `tanh`?
