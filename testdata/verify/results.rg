fn main(%0: f64) -> f64 {
  %1: f64, %2: f64 = neg %0
  return %1
}
// ---- expected
// error: results.rg:2: invalid program: %1 in `main`: `neg` has one result, found 2
