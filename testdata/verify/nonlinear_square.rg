// A product of cotangents.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = mul %a, %a
  return %0
}
// ---- expected
// error: nonlinear_square.rg:10: invalid program: `%3 = mul` in `bwd` is not linear in the cotangents: it multiplies two of them
