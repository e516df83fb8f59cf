// NaNs are last; equal elements, of which 0 and -0 are two, keep their order.
// input: f64[2,4] [[3.0, nan, -inf, 3.0], [0.0, -0.0, inf, -1.0]]
// input: i64[3] [2, -1, 2]
// input: f64[0] []
fn main(%x: f64[2,4], %n: i64[3], %none: f64[0]) -> f64[2,4], i64[2,4], f64[2,4], i64[3], i64[3], f64[0], i64[0] {
  %0: f64[2,4] = sort %x {axis=[1]}
  %1: i64[2,4] = argsort %x {axis=[1]}
  %2: f64[2,4] = sort %x {axis=[0]}
  %3: i64[3] = sort %n {axis=[0]}
  %4: i64[3] = argsort %n {axis=[0]}
  %5: f64[0] = sort %none {axis=[0]}
  %6: i64[0] = argsort %none {axis=[0]}
  return %0, %1, %2, %3, %4, %5, %6
}
// ---- expected
// f64[2,4] [[-inf, 3.0, 3.0, nan], [-1.0, 0.0, -0.0, inf]]
// i64[2,4] [[2, 0, 3, 1], [3, 0, 1, 2]]
// f64[2,4] [[0.0, -0.0, -inf, -1.0], [3.0, nan, inf, 3.0]]
// i64[3] [-1, 2, 2]
// i64[3] [1, 0, 2]
// f64[0] []
// i64[0] []
