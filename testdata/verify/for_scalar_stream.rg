fn main(%0: i64, %1: f64) {
  for %0 streams(%1) {body=step}
  return
}
fn step(%0: i64, %1: f64) {
  return
}
// ---- expected
// error: for_scalar_stream.rg:2: invalid program: in `main`: `for` needs streams of 0 rows, found %1: f64
