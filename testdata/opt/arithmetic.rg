// What is an identity for every bit goes: x · 1, x - 0, x + (-0), -(-x). What is not stays: x + 0, x · 0.
fn main(%x: f64) -> f64, f64, f64 {
  %one: f64 = constant {value=1.0}
  %zero: f64 = constant {value=0.0}
  %minus_zero: f64 = neg %zero
  %0: f64 = mul %x, %one
  %1: f64 = sub %0, %zero
  %2: f64 = add %1, %minus_zero
  %3: f64 = neg %2
  %4: f64 = neg %3
  %5: f64 = add %4, %zero
  %6: f64 = mul %x, %zero
  return %4, %5, %6
}
// ---- expected
// fn main(%0: f64) -> f64, f64, f64 {
//   %1: f64 = constant {value=0.0}
//   %2: f64 = add %0, %1 {exact}
//   %3: f64 = mul %0, %1 {exact}
//   return %0, %2, %3
// }
