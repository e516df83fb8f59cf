// A window of zeros at index 0 is zero: the index, a zero too, has no part in it.
fn main(%n: i64, %c: f64[2], %a: f64[2]) -> f64[2] {
  %0: f64[2] = unwind %n carries(%c) adjoints(%a) {body=step, bwd=back}
  return %0
}
fn step(%i: i64, %c: f64[2]) -> f64[2] {
  return %c
}
fn back(%i: i64, %c: f64[2], %a: f64[2]) -> f64[2] {
  %0: f64 = constant {value=0.0}
  %1: f64[2] = broadcast %0 {shape=[2], axes=[]}
  %2: f64[1] = broadcast %0 {shape=[1], axes=[]}
  %3: i64 = constant {value=0}
  %4: f64[2] = add_at %1, %2, %3 {step=[1]}
  %5: f64[2] = mul %4, %c
  %6: f64[2] = add %5, %a
  return %6
}
// ---- expected
// ok
