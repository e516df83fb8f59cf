fn main(%0: f64) -> f64 {
  %1: f64, %2: i64 = while carries(%0) {cond=step, body=step}
  return %1
}
fn step(%0: f64) -> f64 {
  return %0
}
// ---- expected
// error: while_condition.rg:2: invalid program: %1 in `main`: `while` needs (bool) as results of `step`, found (f64)
