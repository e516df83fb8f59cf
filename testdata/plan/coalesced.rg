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
// plan by `auto`: peak 76.95 kB (76952 bytes)
// budget 82 kB (82000 bytes)
// work 2.461 times the least without a budget, 24.7 % above the bound for this memory
//   at the peak: states and records of the loop at coalesced.rg:6, 40.96 kB
//   at the peak: arrays and controllers, 35.99 kB
//   a loop of 20 steps and one of 10 inside are coalesced into one of 200
//   loop at coalesced.rg:6: 200 steps: 8 snapshots of 5.12 kB, each step run at most 4 times (revolve with 9 slots)
//     a state 5.12 kB, no records, pool 40.96 kB (40960 bytes)
//     737 forward steps (3.69 per step, the program's own loop included), 145 states held
//     f64[640] (if at coalesced.rg:13, 5.12 kB): computed again from the state: nothing is recorded; of every step it is 1.02 MB; read at coalesced.rg:17
//     f64[640] (select at coalesced.rg:20, 5.12 kB): computed again from the state: nothing is recorded; of every step it is 1.02 MB; read at coalesced.rg:20
//     f64[640] (rsqrt at coalesced.rg:19, 5.12 kB): computed again from the state: nothing is recorded; of every step it is 1.02 MB; read at coalesced.rg:19
//     f64[640] (cos at coalesced.rg:18, 5.12 kB): computed again from the state: nothing is recorded; of every step it is 1.02 MB; read at coalesced.rg:18
//
