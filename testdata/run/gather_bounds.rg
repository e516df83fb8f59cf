// input: f64[3] [1.0, 2.0, 3.0]
// input: i64[2] [0, -1]
fn main(%x: f64[3], %i: i64[2]) -> f64[2] {
  %0: f64[2] = gather %x, %i {axis=[0]}
  return %0
}
// ---- expected
// error: gather_bounds.rg:4: index out of bounds: in `gather`
