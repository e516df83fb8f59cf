fn main(%0: f64) -> f64 {
  %1: f64 = frobnicate %0
  return %1
}
// ---- expected
// error: error_unknown_op_far.rg:2: parse error: unknown op `frobnicate`
