// input: 1
fn main(%x: f64) -> f64 {
  return %x
}
// ---- expected
// error: argument error: expected inputs f64, found i64
