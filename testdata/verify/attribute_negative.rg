fn main(%0: f64[3]) -> f64 {
  %1: f64 = sum %0 {axes=[-1]}
  return %1
}
// ---- expected
// error: attribute_negative.rg:2: invalid program: %1 in `main`: `sum` needs a list of integers that are not negative as `axes`
