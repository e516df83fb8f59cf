fn main(%0: f64) -> f64 {
  %1: f64 = neg %0 {axes=[0]}
  return %1
}
// ---- expected
// error: error_no_attributes.rg:2: parse error: `neg` has no attribute `axes`; it has none
