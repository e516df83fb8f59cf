// A result that is another parameter.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  return %c
}
// ---- expected
// error: nonlinear_parameter.rg:3: invalid program: result 0 of `bwd`, %1, must be linear in the cotangents but does not depend on them and is not zero
