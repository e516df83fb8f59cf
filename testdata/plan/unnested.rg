// A loop in a loop as one loop: in so little memory states are held at any step of the inner one.
// strategy: auto
// budget: 82000
fn main(%s: f64[640], %w: f64[640]) -> f64 {
  %0: i64 = constant {value=20}
  %1: f64[640] = for %0 carries(%s) invariants(%w) {body=outer}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn outer(%i: i64, %s: f64[640], %w: f64[640]) -> f64[640] {
  %0: i64 = constant {value=10}
  %1: f64[640] = reverse %s {axes=[0]}
  %2: f64[640] = for %0 carries(%1) invariants(%w) {body=inner}
  return %2
}
fn inner(%j: i64, %s: f64[640], %w: f64[640]) -> f64[640] {
  %0: f64[640] = mul %s, %w
  %1: f64[640] = sin %0
  %2: f64[640] = reverse %1 {axes=[0]}
  return %2
}
// ---- expected
// plan by `auto`: peak 8.91 kB (8912 bytes)
// budget 9 kB (9000 bytes)
// work 1.566 times the least without a budget, 51.8 % above the bound for this memory
//   at the peak: states and records of the loop at unnested.rg:6, 1.02 kB
//   at the peak: states and records of the loop at unnested.rg:13, 3.07 kB
//   at the peak: arrays and controllers, 4.81 kB
//   loop at unnested.rg:6: 20 steps: 2 snapshots of 512 bytes, each step run at most 5 times (revolve with 3 slots)
//     a state 512 bytes, no records, pool 1.02 kB (1024 bytes)
//     69 forward steps (3.45 per step, the program's own loop included), 9 states held
//     f64[640] (state, 512 bytes): recomputed from the state: nothing is recorded
//     loop at unnested.rg:13: 10 steps: 6 records of 512 bytes, each step run at most 2 times (states and records mixed: 8 steps recorded, 2 turned back, 0 states held, 3 steps run again)
//       a state 512 bytes, a record 512 bytes, pool 3.07 kB (3072 bytes)
//       13 forward steps (1.30 per step, besides the program's own), 0 states held
//       f64[640] (state, 512 bytes): kept of some steps, recomputed for the others
//       f64[640] (cos at unnested.rg:18, 512 bytes): recomputed from what is kept: cheaper than its bytes
//   actions: advance 0..3, tape 3..9 at 0 by 1, turnback 9, reverse 3..9 at 0 by 1, restore x0 from the start, tape 0..2 at 0 by 1, turnback 2, reverse 0..2 at 0 by 1, done
//
