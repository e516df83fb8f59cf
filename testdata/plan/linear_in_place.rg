// A[i+1] = k A[i] with a fixed k: the adjoint reads no state, so nothing is kept.
// strategy: auto
fn main(%A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=8}
  %1: f64[9] = for %0 carries(%A) {body=step}
  return %1
}
fn step(%i: i64, %A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=1}
  %1: i64 = add %i, %0
  %2: f64[1] = dynamic_slice %A, %i {sizes=[1], step=[1]}
  %3: f64 = constant {value=0.5}
  %4: f64[1] = broadcast %3 {shape=[1], axes=[]}
  %5: f64[1] = mul %2, %4
  %6: f64[9] = update %A, %5, %1 {step=[1]}
  return %6
}
// ---- expected
// plan by `auto`: peak 200 bytes
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: arrays and controllers, 152 bytes
//
