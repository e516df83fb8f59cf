// Three of four rows are used; the row beyond n is zero.
// input: i64 3
// input: 1.0
// input: f64[4] [1.0, 2.0, 3.0, 4.0]
fn main(%n: i64, %c: f64, %xs: f64[4]) -> f64, f64[4] {
  %0: f64, %1: f64[4] = for %n carries(%c) streams(%xs) {body=step, bound=4}
  return %0, %1
}
fn step(%i: i64, %c: f64, %x: f64) -> f64, f64 {
  %0: f64 = mul %c, %x
  %1: f64 = convert %i {dtype=f64}
  %2: f64 = add %0, %1
  return %2, %c
}
// ---- expected
// 11.0
// f64[4] [1.0, 1.0, 3.0, 0.0]
