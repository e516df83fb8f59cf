// input: 1.0
fn main(%0: f64) -> f64 {
  %1: f64[2,40] = iota {type=f64[2,40], axis=[1]}
  %2: f64[2,40] = broadcast %0 {shape=[2, 40], axes=[]}
  %3: f64[2,40] = mul %1, %2
  %4: f64[2,40,2] = broadcast %3 {shape=[2, 40, 2], axes=[0, 1]}
  %5: f64[40,2] = sum %4 {axes=[0]}
  %6: f64[40,2] = mul %5, %5
  %7: f64 = sum %6 {axes=[0, 1]}
  return %7
}
// ---- expected
// 164320.0
