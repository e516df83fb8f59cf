fn main(%a: f64[3,3], %b: f64[3,1]) -> f64 {
  %0: f64[3,1] = solve %a, %b {transpose=[0]}
  %1: f64 = dot %0, %b {lhs_contract=[0,1], rhs_contract=[0,1], lhs_batch=[], rhs_batch=[]}
  return %1
}
// ---- expected
// fn main_vjp(%0: f64[3,3], %1: f64[3,1], %2: f64) -> f64, f64[3,3], f64[3,1] {
//   %3: f64[3,1] = solve %0, %1 {transpose=[0]}
//   %4: f64 = dot %3, %1 {lhs_contract=[0, 1], rhs_contract=[0, 1], lhs_batch=[], rhs_batch=[]}
//   %5: f64[3,1] = dot %2, %1 {lhs_contract=[], rhs_contract=[], lhs_batch=[], rhs_batch=[]}
//   %6: f64[3,1] = dot %2, %3 {lhs_contract=[], rhs_contract=[], lhs_batch=[], rhs_batch=[]}
//   %7: f64[3,1] = solve %0, %5 {transpose=[1]}
//   %8: f64[3,1] = neg %7
//   %9: f64[3,3] = dot %8, %3 {lhs_contract=[1], rhs_contract=[1], lhs_batch=[], rhs_batch=[]}
//   %10: f64[3,1] = add %6, %7
//   return %4, %9, %10
// }
