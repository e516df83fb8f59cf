// Positions are read; the plain form does not print them.
fn main(%0: f64) -> f64 {
  %1: f64 = neg %0 @ "model.py":12
  %2: f64 = exp %1 @ "a \"quoted\" \\ name":3
  %3: f64 = sin %2 @ unknown
  return %3
}
// ---- expected
// fn main(%0: f64) -> f64 {
//   %1: f64 = neg %0
//   %2: f64 = exp %1
//   %3: f64 = sin %2
//   return %3
// }
