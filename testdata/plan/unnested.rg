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
// plan by `auto`: peak 77.08 kB (77080 bytes)
// budget 82 kB (82000 bytes)
// work 2.676 times the least without a budget, 34.7 % above the bound for this memory
//   at the peak: states and records of the loop at unnested.rg:6, 30.72 kB
//   at the peak: arrays and controllers, 46.36 kB
//   a loop of 20 steps with one of 10 inside runs as one of 200
//   loop at unnested.rg:6: 200 steps: 6 snapshots of 5.12 kB and 3 records of 15.36 kB or 10.24 kB or 5.12 kB, each step run at most 4 times (states and records mixed: 108 steps recorded, 92 turned back, 62 states held, 531 steps run again)
//     a state 5.12 kB, a record 15.36 kB or 10.24 kB or 5.12 kB, pool 30.72 kB (30720 bytes)
//     731 forward steps (3.65 per step, the program's own loop included), 62 states held
//     f64[640] (if at unnested.rg:13, 5.12 kB): kept of 108 steps, computed again for the other 92: of every step it is 1.02 MB; read at unnested.rg:17
//     f64[640] (div at unnested.rg:20, 5.12 kB): kept of 80 steps, computed again for the other 120: of every step it is 1.02 MB, and to compute it again takes 2.8 µs; read at unnested.rg:20
//     f64[640] (rsqrt at unnested.rg:19, 5.12 kB): kept of 21 steps, computed again for the other 179: of every step it is 1.02 MB, and to compute it again takes 817.9 ns; read at unnested.rg:19
//     f64[640] (cos at unnested.rg:18, 5.12 kB): computed again from what is kept: no slower than to write and read 5.12 kB a step; read at unnested.rg:18
//
