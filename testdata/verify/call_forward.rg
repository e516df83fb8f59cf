fn main(%0: f64) -> f64 {
  %1: f64 = call args(%0) {body=f, forward=fwd, backward=bwd}
  return %1
}
fn f(%0: f64) -> f64 {
  return %0
}
fn fwd(%0: f64) -> bool {
  %1: bool = lt %0, %0
  return %1
}
fn bwd(%0: f64) -> f64 {
  return %0
}
// ---- expected
// error: call_forward.rg:2: invalid program: %1 in `main`: `call` needs (f64) as first results of `fwd`, found (bool)
