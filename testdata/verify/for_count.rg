fn main(%0: f64) {
  for %0 {body=step}
  return
}
fn step(%0: i64) {
  return
}
// ---- expected
// error: for_count.rg:2: invalid program: in `main`: `for` needs an i64 scalar as count, found %0: f64
