fn main(%a: f64[3,3], %b: f64[3,1]) -> f64 {
  %0: f64[3,1] = solve %a, %b
  %1: f64 = dot %0, %b {lhs_contract=[0,1], rhs_contract=[0,1], lhs_batch=[], rhs_batch=[]}
  return %1
}
// ---- expected
// fn main_vjp(%0: f64[3,3], %1: f64[3,1], %2: f64) -> f64, f64[3,3], f64[3,1] {
//   %3: f64[3,1] = solve %0, %1
//   %4: f64 = dot %3, %1 {lhs_contract=[0, 1], rhs_contract=[0, 1], lhs_batch=[], rhs_batch=[]}
//   %5: f64[3,1] = dot %2, %1 {lhs_contract=[], rhs_contract=[], lhs_batch=[], rhs_batch=[]}
//   %6: f64[3,1] = dot %2, %3 {lhs_contract=[], rhs_contract=[], lhs_batch=[], rhs_batch=[]}
//   %7: f64[3,3] = transpose %0 {axes=[1, 0]}
//   %8: f64[3,1] = solve %7, %5
//   %9: f64[3,1] = neg %8
//   %10: f64[3,3] = dot %9, %3 {lhs_contract=[1], rhs_contract=[1], lhs_batch=[], rhs_batch=[]}
//   %11: f64[3,1] = add %6, %8
//   return %4, %10, %11
// }
