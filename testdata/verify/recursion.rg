fn main(%0: bool, %1: f64) -> f64 {
  %2: f64 = if %0 args(%0, %1) {then=main, else=other}
  return %2
}
fn other(%0: bool, %1: f64) -> f64 {
  return %1
}
// ---- expected
// error: recursion.rg:2: invalid program: `main` runs itself; bodies must not recurse
