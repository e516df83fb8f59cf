fn main(%0: f64) -> f64 {
  %1: f64 = while carries(%0) {cond=never, body=step}
  return %1
}
fn never(%0: f64) -> bool {
  %1: bool = lt %0, %0
  return %1
}
fn step(%0: f64) -> f64 {
  return %0
}
// ---- expected
// error: while_trips.rg:2: invalid program: %1 in `main`: `while` has 1 carries and returns them and its trips, found 1 arguments and 1 results
