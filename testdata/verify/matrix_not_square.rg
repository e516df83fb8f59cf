fn main(%0: f64[2,3]) -> f64 {
  %1: f64 = det %0
  return %1
}
// ---- expected
// error: matrix_not_square.rg:2: shape error: %1 in `main`: `det` needs square matrices in the last two axes, found f64[2,3]
