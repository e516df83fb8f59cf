// A loop in a loop as one loop: in so little memory states are held at any step of the inner one.
// strategy: auto
// budget: 1700
fn main(%s: f64[4], %w: f64[4]) -> f64 {
  %0: i64 = constant {value=8}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=outer}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn outer(%i: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=10}
  %1: f64[4] = reverse %s {axes=[0]}
  %2: f64[4] = for %0 carries(%1) invariants(%w) {body=inner}
  return %2
}
fn inner(%j: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: f64[4] = mul %s, %w
  %1: f64[4] = sin %0
  %2: f64[4] = reverse %1 {axes=[0]}
  return %2
}
