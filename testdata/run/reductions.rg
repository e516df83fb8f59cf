// A NaN is the largest and the smallest element; of equal elements the first is found.
// input: f64[2,3] [[3.0, -1.0, 3.0], [2.0, nan, -4.0]]
// input: i64[2,2] [[2, 3], [-5, 3]]
// input: bool[2,2] [[true, false], [true, true]]
// input: f64[0,2] []
// input: f64[3] [1000.0, 1000.0, -inf]
fn main(%x: f64[2,3], %n: i64[2,2], %p: bool[2,2], %none: f64[0,2], %large: f64[3]) -> f64[2], f64[2], i64, f64[2], f64[3], i64, i64[2], i64[2], i64[2], bool[2], bool[2], bool, f64, f64[2] {
  %0: f64[2] = prod %x {axes=[1]}
  %1: f64[2] = prod %none {axes=[0]}
  %2: i64 = prod %n {axes=[0, 1]}
  %3: f64[2] = reduce_max %x {axes=[1]}
  %4: f64[3] = reduce_min %x {axes=[0]}
  %5: i64 = reduce_max %n {axes=[0, 1]}
  %6: i64[2] = argmax %x {axis=[1]}
  %7: i64[2] = argmin %x {axis=[1]}
  %8: i64[2] = argmax %n {axis=[0]}
  %9: bool[2] = any %p {axes=[1]}
  %10: bool[2] = all %p {axes=[1]}
  %11: bool = all %p {axes=[0, 1]}
  %12: f64 = logsumexp %large {axes=[0]}
  %13: f64[2] = logsumexp %none {axes=[0]}
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13
}
// ---- expected
// f64[2] [-9.0, nan]
// f64[2] [1.0, 1.0]
// -90
// f64[2] [3.0, nan]
// f64[3] [2.0, nan, -4.0]
// 3
// i64[2] [0, 1]
// i64[2] [1, 1]
// i64[2] [0, 0]
// bool[2] [true, true]
// bool[2] [false, true]
// false
// 1000.6931471805599
// f64[2] [-inf, -inf]
