fn main(%0: f64) -> f64 {
  %1 = neg %0
  return %1
}
// ---- expected
// error: error_no_type.rg:2: parse error: expected `:`, found `=`
