fn main(%0: f64[3]) -> f64 {
  %1: f64 = sum %0 {axis=[0]}
  return %1
}
// ---- expected
// error: error_unknown_attribute.rg:2: parse error: `sum` has no attribute `axis`; it has axes, exact
