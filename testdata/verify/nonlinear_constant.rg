// A result that does not depend on the cotangents.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = neg %c
  return %0
}
// ---- expected
// error: nonlinear_constant.rg:10: invalid program: result 0 of `bwd`, %3, must be linear in the cotangents but does not depend on them and is not zero
