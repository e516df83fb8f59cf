// input: f64[0] []
fn main(%x: f64[0]) -> f64 {
  %0: f64 = reduce_max %x {axes=[0]}
  return %0
}
// ---- expected
// error: empty_maximum.rg:3: shape error: %1 in `main`: `reduce_max` over axis 0 of f64[0], which has no elements
