fn main(%0: f64) -> f64 {
  %1: f64 = if %0 args(%0) {then=id, else=id}
  return %1
}
fn id(%0: f64) -> f64 {
  return %0
}
// ---- expected
// error: if_predicate.rg:2: invalid program: %1 in `main`: `if` needs a bool scalar as predicate, found f64
