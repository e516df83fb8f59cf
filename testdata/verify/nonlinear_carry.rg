// Only the second trip of an inner loop multiplies cotangents.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = constant {value=0.0}
  %1: f64, %2: f64 = for %i carries(%0, %0) invariants(%a) {body=shift}
  return %2
}
fn shift(%i: i64, %x: f64, %y: f64, %a: f64) -> f64, f64 {
  %0: f64 = mul %x, %a
  return %a, %0
}
// ---- expected
// error: nonlinear_carry.rg:15: invalid program: `%4 = mul` in `shift` is not linear in the cotangents: it multiplies two of them
