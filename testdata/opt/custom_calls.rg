// Equal calls with a custom backward function stay two, and so do loops of them; a custom tangent is linear, and its calls are one.
fn main(%x: f64, %n: i64) -> f64, f64, f64 {
  %0: f64 = call args(%x) {body=same, forward=same, backward=clip}
  %1: f64 = call args(%x) {body=same, forward=same, backward=clip}
  %2: f64 = sin %0
  %3: f64 = sin %1
  %4: f64 = add %2, %3
  %5: f64 = for %n carries(%x) {body=step}
  %6: f64 = for %n carries(%x) {body=step}
  %7: f64 = add %5, %6
  %8: f64 = call args(%x) {body=same, tangent=twice}
  %9: f64 = call args(%x) {body=same, tangent=twice}
  %10: f64 = add %8, %9
  return %4, %7, %10
}
fn same(%x: f64) -> f64 {
  return %x
}
fn clip(%ct: f64) -> f64 {
  %0: f64 = constant {value=1.0}
  %1: f64 = min %ct, %0
  return %1
}
fn twice(%x: f64, %dx: f64) -> f64 {
  %0: f64 = add %dx, %dx
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  %0: f64 = call args(%c) {body=same, forward=same, backward=clip}
  return %0
}
// ---- expected
// fn main(%0: f64, %1: i64) -> f64, f64, f64 {
//   %2: f64 = call args(%0) {body=same, forward=same, backward=clip}
//   %3: f64 = call args(%0) {body=same, forward=same, backward=clip}
//   %4: f64 = sin %2
//   %5: f64 = sin %3
//   %6: f64 = add %4, %5 {exact}
//   %7: f64 = for %1 carries(%0) {body=step}
//   %8: f64 = for %1 carries(%0) {body=step}
//   %9: f64 = add %7, %8 {exact}
//   %10: f64 = call args(%0) {body=same, tangent=twice}
//   %11: f64 = add %10, %10 {exact}
//   return %6, %9, %11
// }
//
// fn same(%0: f64) -> f64 {
//   return %0
// }
//
// fn clip(%0: f64) -> f64 {
//   %1: f64 = constant {value=1.0}
//   %2: f64 = min %0, %1
//   return %2
// }
//
// fn step(%0: i64, %1: f64) -> f64 {
//   %2: f64 = call args(%1) {body=same, forward=same, backward=clip}
//   return %2
// }
//
// fn twice(%0: f64, %1: f64) -> f64 {
//   %2: f64 = add %1, %1 {exact}
//   return %2
// }
