// A[i] = k · A[i] in a loop, and its adjoint: the unwind reads no state, so it carries none, and the loop keeps its own body.
fn main(%n: i64, %A: f64[3], %k: f64, %ct: f64[3]) -> f64[3], f64[3] {
  %B: f64[3] = for %n carries(%A) invariants(%k) {body=scale}
  %dA: f64[3] = unwind %n carries(%A) invariants(%k) adjoints(%ct) {body=scale, bwd=scale_bwd}
  return %B, %dA
}
fn scale(%i: i64, %A: f64[3], %k: f64) -> f64[3] {
  %old: f64[1] = dynamic_slice %A, %i {sizes=[1], step=[1]}
  %factor: f64[1] = reshape %k {shape=[1]}
  %new: f64[1] = mul %old, %factor
  %B: f64[3] = update %A, %new, %i {step=[1]}
  return %B
}
fn scale_bwd(%i: i64, %A: f64[3], %k: f64, %ct: f64[3]) -> f64[3] {
  %old: f64[1] = dynamic_slice %ct, %i {sizes=[1], step=[1]}
  %factor: f64[1] = reshape %k {shape=[1]}
  %new: f64[1] = mul %old, %factor
  %B: f64[3] = update %ct, %new, %i {step=[1]}
  return %B
}
// ---- expected
// fn main(%0: i64, %1: f64[3], %2: f64, %3: f64[3]) -> f64[3], f64[3] {
//   %4: f64[3] = for %0 carries(%1) invariants(%2) {body=scale}
//   %5: f64[3] = unwind %0 invariants(%2) adjoints(%3) {body=scale_2, bwd=scale_bwd}
//   return %4, %5
// }
//
// fn scale(%0: i64, %1: f64[3], %2: f64) -> f64[3] {
//   %3: f64[1] = dynamic_slice %1, %0 {sizes=[1], step=[1]}
//   %4: f64[1] = reshape %2 {shape=[1]}
//   %5: f64[1] = mul %3, %4 {exact}
//   %6: f64[3] = update %1, %5, %0 {step=[1]}
//   return %6
// }
//
// fn scale_2(%0: i64, %1: f64) {
//   return
// }
//
// fn scale_bwd(%0: i64, %1: f64, %2: f64[3]) -> f64[3] {
//   %3: f64[1] = dynamic_slice %2, %0 {sizes=[1], step=[1]}
//   %4: f64[1] = reshape %1 {shape=[1]}
//   %5: f64[1] = mul %3, %4 {exact}
//   %6: f64[3] = update %2, %5, %0 {step=[1]}
//   return %6
// }
