// bwd reads d, and d needs c; e, the second adjoint and the running cotangent go.
fn main(%n: i64, %x: f64, %a: f64, %r: f64) -> f64 {
  %0: f64, %1: f64, %2: f64 = unwind %n carries(%x, %x, %x) adjoints(%a, %a) running(%r) {body=step, bwd=step_bwd}
  return %0
}
fn step(%i: i64, %c: f64, %d: f64, %e: f64) -> f64, f64, f64 {
  %0: f64 = mul %c, %c
  %1: f64 = add %d, %c
  %2: f64 = mul %e, %e
  return %0, %1, %2
}
fn step_bwd(%i: i64, %c: f64, %d: f64, %e: f64, %a: f64, %b: f64, %r: f64) -> f64, f64, f64 {
  %0: f64 = mul %a, %d
  %1: f64 = mul %b, %e
  %2: f64 = add %r, %b
  return %0, %1, %2
}
// ---- expected
// fn main(%0: i64, %1: f64, %2: f64, %3: f64) -> f64 {
//   %4: f64 = unwind %0 carries(%1, %1) adjoints(%2) {body=step, bwd=step_bwd}
//   return %4
// }
//
// fn step(%0: i64, %1: f64, %2: f64) -> f64, f64 {
//   %3: f64 = mul %1, %1 {exact}
//   %4: f64 = add %2, %1 {exact}
//   return %3, %4
// }
//
// fn step_bwd(%0: i64, %1: f64, %2: f64, %3: f64) -> f64 {
//   %4: f64 = mul %3, %2 {exact}
//   return %4
// }
