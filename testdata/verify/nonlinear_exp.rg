// A function of a cotangent that is not linear.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = exp %a
  return %0
}
// ---- expected
// error: nonlinear_exp.rg:10: invalid program: `%3 = exp` in `bwd` is not linear in the cotangents: it is not linear in this argument
