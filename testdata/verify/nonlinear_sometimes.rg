// One branch is constant.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: bool = lt %c, %c
  %1: f64 = if %0 args(%a, %c) {then=first, else=second}
  return %1
}
fn first(%a: f64, %c: f64) -> f64 {
  return %a
}
fn second(%a: f64, %c: f64) -> f64 {
  return %c
}
// ---- expected
// error: nonlinear_sometimes.rg:11: invalid program: `%4 = if` in `bwd` is not linear in the cotangents: a result depends on the cotangents only sometimes and is not zero otherwise
