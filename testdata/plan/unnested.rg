// A loop in a loop as one loop: in so little memory states are held at any step of the inner one.
// strategy: auto
// budget: 9000
fn main(%s: f64[64], %w: f64[64]) -> f64 {
  %0: i64 = constant {value=20}
  %1: f64[64] = for %0 carries(%s) invariants(%w) {body=outer}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn outer(%i: i64, %s: f64[64], %w: f64[64]) -> f64[64] {
  %0: i64 = constant {value=10}
  %1: f64[64] = reverse %s {axes=[0]}
  %2: f64[64] = for %0 carries(%1) invariants(%w) {body=inner}
  return %2
}
fn inner(%j: i64, %s: f64[64], %w: f64[64]) -> f64[64] {
  %0: f64[64] = mul %s, %w
  %1: f64[64] = sin %0
  %2: f64[64] = reverse %1 {axes=[0]}
  return %2
}
// ---- expected
// plan by `auto`: peak 8.84 kB (8840 bytes)
// budget 9 kB (9000 bytes)
// work 1.690 times the least without a budget, 31.5 % above the bound for this memory
//   at the peak: states and records of the loop at unnested.rg:6, 4.61 kB
//   at the peak: arrays and controllers, 4.23 kB
//   a loop of 20 steps with one of 10 inside runs as one of 200
//   loop at unnested.rg:6: 200 steps: 9 snapshots of 512 bytes, each step run at most 4 times (revolve with 10 slots)
//     a state 512 bytes, no records, pool 4.61 kB (4608 bytes)
//     725 forward steps (3.62 per step, the program's own loop included), 134 states held
//     f64[64] (state, 512 bytes): recomputed from the state: nothing is recorded
//     f64[64] (cos at unnested.rg:18, 512 bytes): recomputed from the state: nothing is recorded
//
