// The body of an unwind returns its carries alone.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64, f64 {
  return %c, %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  return %a
}
// ---- expected
// error: unwind_emits.rg:3: invalid program: %3 in `main`: `unwind` needs (f64) as results of `step`, found (f64, f64)
