fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=step}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
// ---- expected
// error: unwind_bwd.rg:2: invalid program: %3 in `main`: `unwind` needs (i64, f64, f64) as parameters of `step`, found (i64, f64)
