// Zeros that come in as an invariant are known to be zero.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %z: f64 = constant {value=0.0}
  %0: f64 = unwind %n carries(%c) invariants(%z) adjoints(%a) {body=step, bwd=bwd}
  return %0
}
fn step(%i: i64, %c: f64, %z: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %z: f64, %a: f64) -> f64 {
  %p: bool = lt %c, %z
  %0: f64 = select %p, %a, %z
  return %0
}
// ---- expected
// ok
