fn main(%0: f64[6], %1: i64) -> f64[3] {
  %2: f64[3] = dynamic_slice %0, %1 {sizes=[3], step=[9223372036854775807]}
  return %2
}
// ---- expected
// error: window_overflow.rg:2: shape error: %2 in `main`: `dynamic_slice`: a window of shape [3] by [9223372036854775807] does not fit f64[6]
