// A[i+1] = sin(A[i]) A[i+1], in place: a step keeps two elements, not the array.
fn main(%A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=8}
  %1: f64[9] = for %0 carries(%A) {body=step}
  return %1
}
fn step(%i: i64, %A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=1}
  %1: i64 = add %i, %0
  %2: f64[1] = dynamic_slice %A, %i {sizes=[1], step=[1]}
  %3: f64[1] = dynamic_slice %A, %1 {sizes=[1], step=[1]}
  %4: f64[1] = sin %2
  %5: f64[1] = mul %4, %3
  %6: f64[9] = update %A, %5, %1 {step=[1]}
  return %6
}
// ---- expected
// fn main_vjp(%0: f64[9], %1: f64[9]) -> f64[9], f64[9] {
//   %2: i64 = constant {value=8}
//   %3: f64[9] = for %2 carries(%0) {body=step}
//   %4: f64[9] = unwind %2 carries(%0) adjoints(%1) {body=step, bwd=step_vjp}
//   return %3, %4
// }
//
// fn step(%0: i64, %1: f64[9]) -> f64[9] {
//   %2: i64 = constant {value=1}
//   %3: i64 = add %0, %2
//   %4: f64[1] = dynamic_slice %1, %0 {sizes=[1], step=[1]}
//   %5: f64[1] = dynamic_slice %1, %3 {sizes=[1], step=[1]}
//   %6: f64[1] = sin %4
//   %7: f64[1] = mul %6, %5
//   %8: f64[9] = update %1, %7, %3 {step=[1]}
//   return %8
// }
//
// fn step_vjp(%0: i64, %1: f64[9], %2: f64[9]) -> f64[9] {
//   %3: i64 = constant {value=1}
//   %4: i64 = add %0, %3
//   %5: f64[1] = dynamic_slice %1, %0 {sizes=[1], step=[1]}
//   %6: f64[1] = dynamic_slice %1, %4 {sizes=[1], step=[1]}
//   %7: f64[1] = sin %5
//   %8: f64[1] = dynamic_slice %2, %4 {sizes=[1], step=[1]}
//   %9: f64[1] = mul %6, %8
//   %10: f64[1] = mul %7, %8
//   %11: f64[1] = cos %5
//   %12: f64[1] = mul %11, %9
//   %13: f64[9] = update %2, %10, %4 {step=[1]}
//   %14: f64[9] = add_at %13, %12, %0 {step=[1]}
//   return %14
// }
