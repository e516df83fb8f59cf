fn main(%0: i64, %1: f64) -> f64 {
  %2: f64 = for %0 carries(%1) {body=step}
  return %2
}
fn step(%0: i64, %1: f64) -> bool {
  %2: bool = lt %1, %1
  return %2
}
// ---- expected
// error: for_carry.rg:2: invalid program: %2 in `main`: `for` needs (f64) as results of `step`, found (bool)
