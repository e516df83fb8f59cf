// The transpose of a rule that is built from other rows.
fn main(%x: f64[2,3]) -> f64[2] {
  %0: f64[2] = logsumexp %x {axes=[1]}
  return %0
}
// ---- expected
// fn main_vjp(%0: f64[2,3], %1: f64[2]) -> f64[2], f64[2,3] {
//   %2: f64[2] = logsumexp %0 {axes=[1]}
//   %3: f64[2,3] = broadcast %2 {shape=[2, 3], axes=[0]}
//   %4: f64[2,3] = sub %0, %3
//   %5: f64[2,3] = exp %4
//   %6: f64[2,3] = broadcast %1 {shape=[2, 3], axes=[0]}
//   %7: f64[2,3] = mul %5, %6
//   return %2, %7
// }
