fn main(%n: i64, %c: f64, %a: i64) -> i64 {
  %0: i64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: i64) -> i64 {
  return %a
}
// ---- expected
// error: unwind_cotangent.rg:2: invalid program: %3 in `main`: `unwind` needs cotangents that are floats, found %2: i64
