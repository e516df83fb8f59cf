// A[i+1] = k A[i] with a fixed k: the adjoint reads no state, so nothing is kept.
fn main(%A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=8}
  %1: f64[9] = for %0 carries(%A) {body=step}
  return %1
}
fn step(%i: i64, %A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=1}
  %1: i64 = add %i, %0
  %2: f64[1] = dynamic_slice %A, %i {sizes=[1], step=[1]}
  %3: f64 = constant {value=0.5}
  %4: f64[1] = broadcast %3 {shape=[1], axes=[]}
  %5: f64[1] = mul %2, %4
  %6: f64[9] = update %A, %5, %1 {step=[1]}
  return %6
}
// ---- expected
// fn main_vjp(%0: f64[9], %1: f64[9]) -> f64[9], f64[9] {
//   %2: i64 = constant {value=8}
//   %3: f64[9] = for %2 carries(%0) {body=step}
//   %4: f64[9] = unwind %2 adjoints(%1) {body=step_2, bwd=step_vjp}
//   return %3, %4
// }
//
// fn step(%0: i64, %1: f64[9]) -> f64[9] {
//   %2: i64 = constant {value=1}
//   %3: i64 = add %0, %2
//   %4: f64[1] = dynamic_slice %1, %0 {sizes=[1], step=[1]}
//   %5: f64 = constant {value=0.5}
//   %6: f64[1] = broadcast %5 {shape=[1], axes=[]}
//   %7: f64[1] = mul %4, %6
//   %8: f64[9] = update %1, %7, %3 {step=[1]}
//   return %8
// }
//
// fn step_2(%0: i64) {
//   return
// }
//
// fn step_vjp(%0: i64, %1: f64[9]) -> f64[9] {
//   %2: i64 = constant {value=1}
//   %3: i64 = add %0, %2
//   %4: f64 = constant {value=0.5}
//   %5: f64[1] = broadcast %4 {shape=[1], axes=[]}
//   %6: f64[1] = dynamic_slice %1, %3 {sizes=[1], step=[1]}
//   %7: f64[1] = mul %5, %6
//   %8: f64 = constant {value=0.0}
//   %9: f64[1] = broadcast %8 {shape=[1], axes=[]}
//   %10: f64[9] = update %1, %9, %3 {step=[1]}
//   %11: f64[9] = add_at %10, %7, %0 {step=[1]}
//   return %11
// }
