// input: f64[3] [1.0, 2.0, 3.0]
// input: i64 2
fn main(%x: f64[3], %i: i64) -> f64[2] {
  %0: f64[2] = dynamic_slice %x, %i {sizes=[2], step=[1]}
  return %0
}
// ---- expected
// error: bounds.rg:4: index out of bounds: in `dynamic_slice`
