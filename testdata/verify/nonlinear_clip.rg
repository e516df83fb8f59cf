// A comparison of a cotangent (clipping).
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: bool = lt %a, %c
  %1: f64 = select %0, %a, %c
  return %1
}
// ---- expected
// error: nonlinear_clip.rg:10: invalid program: `%3 = lt` in `bwd` is not linear in the cotangents: it is flat in its arguments
