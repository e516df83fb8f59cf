fn main(%x: f64[2,3], %v: f64) -> f64[2,3], f64[2,3], f64[2,3], f64[2,3] {
  %0: f64[2,3] = reverse %x {axes=[]}
  %1: f64[2,3] = reverse %x {axes=[0]}
  %2: f64[2,3] = reverse %1 {axes=[0]}
  %3: f64[2,3] = reverse %1 {axes=[1]}
  %4: f64[2,3] = broadcast %v {shape=[2, 3], axes=[]}
  %5: f64[2,3] = reverse %4 {axes=[1]}
  return %0, %2, %3, %5
}
// ---- expected
// fn main(%0: f64[2,3], %1: f64) -> f64[2,3], f64[2,3], f64[2,3], f64[2,3] {
//   %2: f64[2,3] = reverse %0 {axes=[0]}
//   %3: f64[2,3] = reverse %2 {axes=[1]}
//   %4: f64[2,3] = broadcast %1 {shape=[2, 3], axes=[]}
//   return %0, %0, %3, %4
// }
