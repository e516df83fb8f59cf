fn main(%0: f16) -> f16 {
  return %0
}
// ---- expected
// error: error_type.rg:1: parse error: expected an element type (f64, i64, bool), found `f16`
