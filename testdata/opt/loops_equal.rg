// The second loop does the work of the first.
fn main(%n: i64, %x: f64) -> f64, f64 {
  %0: f64 = for %n carries(%x) {body=one}
  %1: f64 = for %n carries(%x) {body=two}
  return %0, %1
}
fn one(%i: i64, %c: f64) -> f64 {
  %0: f64 = sin %c
  %1: f64 = cos %c
  %2: f64 = mul %0, %1
  return %2
}
fn two(%i: i64, %c: f64) -> f64 {
  %0: f64 = cos %c
  %1: f64 = sin %c
  %2: f64 = mul %1, %0
  return %2
}
// ---- expected
// fn main(%0: i64, %1: f64) -> f64, f64 {
//   %2: f64 = for %0 carries(%1) {body=one}
//   return %2, %2
// }
//
// fn one(%0: i64, %1: f64) -> f64 {
//   %2: f64 = sin %1
//   %3: f64 = cos %1
//   %4: f64 = mul %2, %3 {exact}
//   return %4
// }
