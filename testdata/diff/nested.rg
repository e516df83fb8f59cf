// A loop in a loop: the inner one is unwound once per outer step.
fn main(%s: f64[4], %w: f64[4]) -> f64 {
  %0: i64 = constant {value=5}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=outer}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn outer(%i: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=3}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=inner}
  %2: f64[4] = add %1, %s
  return %2
}
fn inner(%j: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: f64[4] = mul %s, %w
  %1: f64[4] = sin %0
  return %1
}
// ---- expected
// fn main_vjp(%0: f64[4], %1: f64[4], %2: f64) -> f64, f64[4], f64[4] {
//   %3: i64 = constant {value=5}
//   %4: f64[4] = for %3 carries(%0) invariants(%1) {body=outer}
//   %5: f64 = sum %4 {axes=[0]}
//   %6: f64[4] = broadcast %2 {shape=[4], axes=[]}
//   %7: f64 = constant {value=0.0}
//   %8: f64[4] = broadcast %7 {shape=[4], axes=[]}
//   %9: f64[4], %10: f64[4] = unwind %3 carries(%0) invariants(%1) adjoints(%6) running(%8) {body=outer, bwd=outer_vjp}
//   return %5, %9, %10
// }
//
// fn outer(%0: i64, %1: f64[4], %2: f64[4]) -> f64[4] {
//   %3: i64 = constant {value=3}
//   %4: f64[4] = for %3 carries(%1) invariants(%2) {body=inner}
//   %5: f64[4] = add %4, %1
//   return %5
// }
//
// fn inner(%0: i64, %1: f64[4], %2: f64[4]) -> f64[4] {
//   %3: f64[4] = mul %1, %2
//   %4: f64[4] = sin %3
//   return %4
// }
//
// fn outer_vjp(%0: i64, %1: f64[4], %2: f64[4], %3: f64[4], %4: f64[4]) -> f64[4], f64[4] {
//   %5: i64 = constant {value=3}
//   %6: f64[4], %7: f64[4] = unwind %5 carries(%1) invariants(%2) adjoints(%3) running(%4) {body=inner, bwd=inner_vjp}
//   %8: f64[4] = add %3, %6
//   return %8, %7
// }
//
// fn inner_vjp(%0: i64, %1: f64[4], %2: f64[4], %3: f64[4], %4: f64[4]) -> f64[4], f64[4] {
//   %5: f64[4] = mul %1, %2
//   %6: f64[4] = cos %5
//   %7: f64[4] = mul %6, %3
//   %8: f64[4] = mul %2, %7
//   %9: f64[4] = mul %1, %7
//   %10: f64[4] = add %4, %9
//   return %8, %10
// }
