// A branch in a loop: each side has its own residuals.
fn main(%x: f64, %w: f64) -> f64 {
  %0: i64 = constant {value=6}
  %1: f64 = for %0 carries(%x) invariants(%w) {body=step}
  return %1
}
fn step(%i: i64, %x: f64, %w: f64) -> f64 {
  %0: f64 = constant {value=0.0}
  %1: bool = lt %x, %0
  %2: f64 = if %1 args(%x, %w) {then=below, else=above}
  return %2
}
fn below(%x: f64, %w: f64) -> f64 {
  %0: f64 = mul %x, %w
  return %0
}
fn above(%x: f64, %w: f64) -> f64 {
  %0: f64 = exp %x
  %1: f64 = sub %w, %0
  return %1
}
// ---- expected
// fn main_vjp(%0: f64, %1: f64, %2: f64) -> f64, f64, f64 {
//   %3: i64 = constant {value=6}
//   %4: f64 = for %3 carries(%0) invariants(%1) {body=step}
//   %5: f64 = constant {value=0.0}
//   %6: f64, %7: f64 = unwind %3 carries(%0) invariants(%1) adjoints(%2) running(%5) {body=step, bwd=step_vjp}
//   return %4, %6, %7
// }
//
// fn step(%0: i64, %1: f64, %2: f64) -> f64 {
//   %3: f64 = constant {value=0.0}
//   %4: bool = lt %1, %3
//   %5: f64 = if %4 args(%1, %2) {then=below, else=above}
//   return %5
// }
//
// fn below(%0: f64, %1: f64) -> f64 {
//   %2: f64 = mul %0, %1
//   return %2
// }
//
// fn above(%0: f64, %1: f64) -> f64 {
//   %2: f64 = exp %0
//   %3: f64 = sub %1, %2
//   return %3
// }
//
// fn step_vjp(%0: i64, %1: f64, %2: f64, %3: f64, %4: f64) -> f64, f64 {
//   %5: f64 = constant {value=0.0}
//   %6: bool = lt %1, %5
//   %7: f64, %8: f64 = if %6 args(%1, %2, %3, %4) {then=below_vjp, else=above_vjp}
//   return %7, %8
// }
//
// fn below_vjp(%0: f64, %1: f64, %2: f64, %3: f64) -> f64, f64 {
//   %4: f64 = mul %1, %2
//   %5: f64 = mul %0, %2
//   %6: f64 = add %3, %5
//   return %4, %6
// }
//
// fn above_vjp(%0: f64, %1: f64, %2: f64, %3: f64) -> f64, f64 {
//   %4: f64 = exp %0
//   %5: f64 = add %3, %2
//   %6: f64 = neg %2
//   %7: f64 = mul %4, %6
//   return %7, %5
// }
