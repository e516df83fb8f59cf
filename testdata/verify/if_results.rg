fn main(%0: bool, %1: f64) -> f64 {
  %2: f64 = if %0 args(%1) {then=id, else=none}
  return %2
}
fn id(%0: f64) -> f64 {
  return %0
}
fn none(%0: f64) {
  return
}
// ---- expected
// error: if_results.rg:2: invalid program: %2 in `main`: `if` needs (f64) as results of `none`, found ()
