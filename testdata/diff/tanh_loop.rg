// s = s + 0.01 tanh(theta s), ten times.
fn main(%s: f64[100], %theta: f64[100]) -> f64 {
  %0: i64 = constant {value=10}
  %1: f64[100] = for %0 carries(%s) invariants(%theta) {body=step}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn step(%i: i64, %s: f64[100], %theta: f64[100]) -> f64[100] {
  %0: f64[100] = mul %theta, %s
  %1: f64[100] = tanh %0
  %2: f64 = constant {value=0.01}
  %3: f64[100] = broadcast %2 {shape=[100], axes=[]}
  %4: f64[100] = mul %3, %1
  %5: f64[100] = add %s, %4
  return %5
}
// ---- expected
// fn main_vjp(%0: f64[100], %1: f64[100], %2: f64) -> f64, f64[100], f64[100] {
//   %3: i64 = constant {value=10}
//   %4: f64[100] = for %3 carries(%0) invariants(%1) {body=step}
//   %5: f64 = sum %4 {axes=[0]}
//   %6: f64[100] = broadcast %2 {shape=[100], axes=[]}
//   %7: f64 = constant {value=0.0}
//   %8: f64[100] = broadcast %7 {shape=[100], axes=[]}
//   %9: f64[100], %10: f64[100] = unwind %3 carries(%0) invariants(%1) adjoints(%6) running(%8) {body=step, bwd=step_vjp}
//   return %5, %9, %10
// }
//
// fn step(%0: i64, %1: f64[100], %2: f64[100]) -> f64[100] {
//   %3: f64[100] = mul %2, %1
//   %4: f64[100] = tanh %3
//   %5: f64 = constant {value=0.01}
//   %6: f64[100] = broadcast %5 {shape=[100], axes=[]}
//   %7: f64[100] = mul %6, %4
//   %8: f64[100] = add %1, %7
//   return %8
// }
//
// fn step_vjp(%0: i64, %1: f64[100], %2: f64[100], %3: f64[100], %4: f64[100]) -> f64[100], f64[100] {
//   %5: f64[100] = mul %2, %1
//   %6: f64[100] = tanh %5
//   %7: f64 = constant {value=0.01}
//   %8: f64[100] = broadcast %7 {shape=[100], axes=[]}
//   %9: f64[100] = mul %8, %3
//   %10: f64[100] = mul %6, %6
//   %11: f64 = constant {value=1.0}
//   %12: f64[100] = broadcast %11 {shape=[100], axes=[]}
//   %13: f64[100] = sub %12, %10
//   %14: f64[100] = mul %13, %9
//   %15: f64[100] = mul %1, %14
//   %16: f64[100] = add %4, %15
//   %17: f64[100] = mul %2, %14
//   %18: f64[100] = add %3, %17
//   return %18, %16
// }
