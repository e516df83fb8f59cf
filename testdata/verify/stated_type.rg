fn main(%0: f64[3]) -> f64[3] {
  %1: f64[3] = sum %0 {axes=[0]}
  return %1
}
// ---- expected
// error: stated_type.rg:2: invalid program: %1 in `main`: `sum` gives f64, found f64[3]
