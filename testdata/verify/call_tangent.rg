fn main(%0: i64, %1: f64) -> f64 {
  %2: f64 = call args(%0, %1) {body=f, tangent=df}
  return %2
}
fn f(%0: i64, %1: f64) -> f64 {
  return %1
}
fn df(%0: i64, %1: f64) -> f64 {
  return %1
}
// ---- expected
// error: call_tangent.rg:2: invalid program: %2 in `main`: `call` needs (i64, f64, f64) as parameters of `df`, found (i64, f64)
