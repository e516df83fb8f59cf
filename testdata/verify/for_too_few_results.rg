fn main(%0: i64, %1: f64) {
  for %0 carries(%1) {body=step}
  return
}
fn step(%0: i64, %1: f64) -> f64 {
  return %1
}
// ---- expected
// error: for_too_few_results.rg:2: invalid program: in `main`: `for` has a count, 1 carries and 0 invariants, found 2 arguments and 0 results
