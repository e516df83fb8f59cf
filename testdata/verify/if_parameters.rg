fn main(%0: bool, %1: f64) -> f64 {
  %2: f64 = if %0 args(%1, %1) {then=id, else=id}
  return %2
}
fn id(%0: f64) -> f64 {
  return %0
}
// ---- expected
// error: if_parameters.rg:2: invalid program: %2 in `main`: `if` needs (f64, f64) as parameters of `id`, found (f64)
