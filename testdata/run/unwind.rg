// input: i64 2
// input: 0.5
// input: 2.0
// input: f64[4] [1.0, 2.0, 3.0, 4.0]
// input: 1.0
// input: f64[4] [0.0, 0.0, 0.0, 0.0]
// input: 0.0
fn main(%n: i64, %c: f64, %k: f64, %xs: f64[4], %a: f64, %gs: f64[4], %r: f64) -> f64, f64, f64[4] {
  %da: f64, %dr: f64, %dxs: f64[4] = unwind %n carries(%c) invariants(%k) streams(%xs) adjoints(%a) emitted(%gs) running(%r) {body=step, bwd=step_bwd, bound=4}
  return %da, %dr, %dxs
}
// c' = k c + x, emits sin c
fn step(%i: i64, %c: f64, %k: f64, %x: f64) -> f64 {
  %0: f64 = mul %k, %c
  %1: f64 = add %0, %x
  return %1
}
fn step_bwd(%i: i64, %c: f64, %k: f64, %x: f64, %a: f64, %g: f64, %r: f64) -> f64, f64, f64 {
  %0: f64 = mul %k, %a
  %1: f64 = cos %c
  %2: f64 = mul %1, %g
  %3: f64 = add %0, %2
  %4: f64 = mul %c, %a
  %5: f64 = add %r, %4
  return %3, %5, %a
}
// ---- expected
// 4.0
// 3.0
// f64[4] [2.0, 1.0, 0.0, 0.0]
