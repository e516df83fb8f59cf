fn main(%0: i64, %1: f64) -> i64 {
  %2: i64 = for %0 carries(%1) {body=step}
  return %2
}
fn step(%0: i64, %1: f64) -> f64 {
  return %1
}
// ---- expected
// error: for_results.rg:2: invalid program: %2 in `main`: `for` needs (f64) as results, found (i64)
