// To integers and back.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: i64 = convert %a {dtype=i64}
  %1: f64 = convert %0 {dtype=f64}
  return %1
}
// ---- expected
// error: nonlinear_truncate.rg:10: invalid program: `%3 = convert` in `bwd` is not linear in the cotangents: its result is not a float
