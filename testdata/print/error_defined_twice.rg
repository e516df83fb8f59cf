fn main(%0: f64) -> f64 {
  %0: f64 = neg %0
  return %0
}
// ---- expected
// error: error_defined_twice.rg:2: parse error: `%0` is defined twice
