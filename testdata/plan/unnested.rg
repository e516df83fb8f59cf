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
  %3: f64[640] = asinh %1
  %4: f64[640] = atan %3
  %2: f64[640] = reverse %4 {axes=[0]}
  return %2
}
// ---- expected
// plan by `auto`: peak 77.14 kB (77144 bytes)
// budget 82 kB (82000 bytes)
// work 1.511 times the least without a budget, 44.4 % above the bound for this memory
//   at the peak: states and records of the loop at unnested.rg:6, 15.36 kB
//   at the peak: states and records of the loop at unnested.rg:13, 15.36 kB
//   at the peak: arrays and controllers, 46.42 kB
//   loop at unnested.rg:6: 20 steps: 3 snapshots of 5.12 kB and 3 records of 5.12 kB, each step run at most 3 times (states and records mixed: 14 steps recorded, 6 turned back, 3 states held, 28 steps run again)
//     a state 5.12 kB, a record 5.12 kB, pool 15.36 kB (15360 bytes)
//     48 forward steps (2.40 per step, the program's own loop included), 3 states held
//     f64[640] (state, 5.12 kB): kept of some steps, recomputed for the others
//     loop at unnested.rg:13: 10 steps: 1 snapshot of 5.12 kB and 3 records of 5.12 kB, each step run at most 2 times (states and records mixed: 7 steps recorded, 3 turned back, 1 states held, 7 steps run again)
//       a state 5.12 kB, a record 5.12 kB, pool 15.36 kB (15360 bytes)
//       17 forward steps (1.70 per step, besides the program's own), 1 states held
//       f64[640] (state, 5.12 kB): kept of some steps, recomputed for the others
//       f64[640] (cos at unnested.rg:18, 5.12 kB): recomputed from what is kept: cheaper than its bytes
//   actions: advance 0..3, snapshot x3 at 0, advance 3..7, tape 7..9 at 5120 by 1, turnback 9, reverse 7..9 at 5120 by 1, restore x3 from 0, tape 3..6 at 0 by 1, turnback 6, reverse 3..6 at 0 by 1, restore x0 from the start, tape 0..2 at 0 by 1, turnback 2, reverse 0..2 at 0 by 1, done
//
