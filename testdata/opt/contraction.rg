// Products that are added or subtracted become fma, whatever else uses them; integers, repeated products and sums of a negation
// follow the same rule.
fn main(%0: f64[3], %1: f64[3], %2: f64[3], %3: f64, %4: i64[3]) -> f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], i64[3] {
  %5: f64[3] = mul %0, %1
  %6: f64[3] = add %5, %2
  %7: f64[3] = sub %5, %2
  %8: f64[3] = sub %2, %5
  %9: f64[3] = mul %1, %2
  %10: f64[3] = add %5, %9
  %11: f64[3] = neg %9
  %12: f64[3] = add %0, %11
  %13: f64 = mul %3, %3
  %14: f64[3] = broadcast %13 {shape=[3], axes=[]}
  %15: f64[3] = add %14, %2
  %16: f64 = constant {value=2.0}
  %17: f64[3] = broadcast %16 {shape=[3], axes=[]}
  %18: f64[3] = mul %17, %1
  %19: f64[3] = sub %2, %18
  %20: i64[3] = mul %4, %4
  %21: i64[3] = add %20, %4
  return %6, %7, %8, %10, %12, %15, %19, %21
}
// ---- expected
// fn main(%0: f64[3], %1: f64[3], %2: f64[3], %3: f64, %4: i64[3]) -> f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], i64[3] {
//   %5: f64[3] = fma %0, %1, %2
//   %6: f64[3] = neg %2
//   %7: f64[3] = fma %0, %1, %6
//   %8: f64[3] = neg %1
//   %9: f64[3] = fma %0, %8, %2
//   %10: f64[3] = mul %1, %2
//   %11: f64[3] = fma %0, %1, %10
//   %12: f64[3] = fma %1, %6, %0
//   %13: f64 = mul %3, %3
//   %14: f64[3] = broadcast %13 {shape=[3], axes=[]}
//   %15: f64[3] = add %14, %2
//   %16: f64 = constant {value=-2.0}
//   %17: f64[3] = broadcast %16 {shape=[3], axes=[]}
//   %18: f64[3] = fma %17, %1, %2
//   %19: i64[3] = mul %4, %4
//   %20: i64[3] = add %19, %4
//   return %5, %7, %9, %11, %12, %15, %18, %20
// }
