// A cotangent decides what runs.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: bool = lt %a, %c
  %1: f64 = if %0 args(%a) {then=id, else=id}
  return %1
}
fn id(%a: f64) -> f64 {
  return %a
}
// ---- expected
// error: nonlinear_branch.rg:11: invalid program: `%4 = if` in `bwd` is not linear in the cotangents: a cotangent decides what runs
