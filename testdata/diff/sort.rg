// The cotangent follows the permutation.
fn main(%x: f64[5]) -> f64[5] {
  %0: f64[5] = sort %x {axis=[0]}
  return %0
}
// ---- expected
// fn main_vjp(%0: f64[5], %1: f64[5]) -> f64[5], f64[5] {
//   %2: f64[5] = sort %0 {axis=[0]}
//   %3: i64[5] = argsort %0 {axis=[0]}
//   %4: f64 = constant {value=0.0}
//   %5: f64[5] = broadcast %4 {shape=[5], axes=[]}
//   %6: f64[5] = add_along_axis %5, %1, %3 {axis=[0]}
//   return %2, %6
// }
