fn main(%0: f64[3], %1: f64[4]) -> f64[3] {
  %2: f64[3] = add %0, %1
  return %2
}
// ---- expected
// error: shapes.rg:2: shape error: %2 in `main`: `add` needs equal shapes, found f64[3] and f64[4]
