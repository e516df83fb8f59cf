fn main(%0: f64) -> f64 {
  %1: f64 = multiply %0, %0
  return %1
}
// ---- expected
// error: error_unknown_op_prefix.rg:2: parse error: unknown op `multiply`; did you mean `mul`?
