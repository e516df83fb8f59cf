fn main(%0: f64) -> f64 {
  %1: f64 = neg %2
  return %1
}
// ---- expected
// error: error_undefined.rg:2: parse error: `%2` is read before it is defined
