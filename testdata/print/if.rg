// Bodies follow in the order of first reference; what the entry cannot reach is not printed.
fn main(%p: bool, %x: f64, %y: f64) -> f64, f64 {
  %a: f64, %b: f64 = if %p args(%x, %y) {else=swap, then=keep}
  %c: f64 = if %p {then=one, else=two}
  %d: f64 = add %b, %c
  return %a, %d
}
fn unused(%x: f64) -> f64 {
  return %x
}
fn two() -> f64 {
  %0: f64 = constant {value=2.0}
  return %0
}
fn one() -> f64 {
  %0: f64 = constant {value=1.0}
  return %0
}
fn swap(%x: f64, %y: f64) -> f64, f64 {
  return %y, %x
}
fn keep(%x: f64, %y: f64) -> f64, f64 {
  return %x, %y
}
// ---- expected
// fn main(%0: bool, %1: f64, %2: f64) -> f64, f64 {
//   %3: f64, %4: f64 = if %0 args(%1, %2) {then=keep, else=swap}
//   %5: f64 = if %0 {then=one, else=two}
//   %6: f64 = add %4, %5
//   return %3, %6
// }
//
// fn keep(%0: f64, %1: f64) -> f64, f64 {
//   return %0, %1
// }
//
// fn swap(%0: f64, %1: f64) -> f64, f64 {
//   return %1, %0
// }
//
// fn one() -> f64 {
//   %0: f64 = constant {value=1.0}
//   return %0
// }
//
// fn two() -> f64 {
//   %0: f64 = constant {value=2.0}
//   return %0
// }
