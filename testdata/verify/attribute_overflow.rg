fn main(%0: f64[6]) -> f64[6] {
  %1: f64[6] = reshape %0 {shape=[4611686018427387904, 4, 6]}
  return %1
}
// ---- expected
// error: attribute_overflow.rg:2: shape error: %1 in `main`: `reshape` cannot make shape [4611686018427387904, 4, 6] of the 6 elements of f64[6]
