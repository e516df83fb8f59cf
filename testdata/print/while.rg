// Groups in any order; a call with a rule of each kind.
fn main(%x: f64, %t: f64) -> f64, i64 {
  %y: f64, %n: i64 = while invariants(%t) carries(%x) {body=step, cond=below}
  %z: f64 = call args(%y) {body=f, forward=fwd, backward=bwd}
  %w: f64 = call args(%z) {tangent=df, body=f}
  %v: f64 = call args(%w) {body=f}
  return %v, %n
}
fn below(%x: f64, %t: f64) -> bool {
  %p: bool = lt %x, %t
  return %p
}
fn step(%x: f64, %t: f64) -> f64 {
  %y: f64 = add %x, %x
  return %y
}
fn f(%x: f64) -> f64 {
  return %x
}
fn fwd(%x: f64) -> f64 {
  return %x
}
fn bwd(%ct: f64) -> f64 {
  return %ct
}
fn df(%x: f64, %dx: f64) -> f64 {
  return %dx
}
// ---- expected
// fn main(%0: f64, %1: f64) -> f64, i64 {
//   %2: f64, %3: i64 = while carries(%0) invariants(%1) {cond=below, body=step}
//   %4: f64 = call args(%2) {body=f, forward=fwd, backward=bwd}
//   %5: f64 = call args(%4) {body=f, tangent=df}
//   %6: f64 = call args(%5) {body=f}
//   return %6, %3
// }
//
// fn below(%0: f64, %1: f64) -> bool {
//   %2: bool = lt %0, %1
//   return %2
// }
//
// fn step(%0: f64, %1: f64) -> f64 {
//   %2: f64 = add %0, %0
//   return %2
// }
//
// fn f(%0: f64) -> f64 {
//   return %0
// }
//
// fn fwd(%0: f64) -> f64 {
//   return %0
// }
//
// fn bwd(%0: f64) -> f64 {
//   return %0
// }
//
// fn df(%0: f64, %1: f64) -> f64 {
//   return %1
// }
