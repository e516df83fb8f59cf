fn main(%0: i64, %1: f64[3]) {
  for %0 streams(%1) {body=step, bound=4}
  return
}
fn step(%0: i64, %1: f64) {
  return
}
// ---- expected
// error: for_bound.rg:2: invalid program: in `main`: `for` needs streams of 4 rows, found %1: f64[3]
