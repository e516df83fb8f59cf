// A[to] += tanh(A[from]), six times: a step keeps three elements, and no copy of A is made.
// strategy: auto
// strategy: keep_all
fn main(%a: f64[1000], %from: i64[6,3], %to: i64[6,3]) -> f64 {
  %n: i64 = constant {value=6}
  %0: f64[1000] = for %n carries(%a) streams(%from, %to) {body=step, bound=6}
  %1: f64 = sum %0 {axes=[0]}
  return %1
}
fn step(%i: i64, %a: f64[1000], %from: i64[3], %to: i64[3]) -> f64[1000] {
  %0: f64[3] = gather %a, %from {axis=[0]}
  %1: f64[3] = tanh %0
  %2: f64[1000] = scatter_add %a, %1, %to {axis=[0]}
  return %2
}
// ---- expected
// plan by `auto`: peak 8.28 kB (8280 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at scatter_in_loop.rg:6, 144 bytes
//   at the peak: arrays and controllers, 8.11 kB
//   loop at scatter_in_loop.rg:6: 6 steps: 6 records of 24 bytes, each step run once (keep all)
//     a state 8 kB, a record 24 bytes, pool 144 bytes
//     6 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[3] (fma at scatter_in_loop.rg:12, 24 bytes): kept: steps are not reversed without it; read at scatter_in_loop.rg:12
//   actions: tape 0..6 at 0 by 0, turn, reverse 0..6 at 0 by 0, done
//
// plan by `keep_all`: peak 8.28 kB (8280 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at scatter_in_loop.rg:6, 144 bytes
//   at the peak: arrays and controllers, 8.11 kB
//   loop at scatter_in_loop.rg:6: 6 steps: 6 records of 24 bytes, each step run once (keep all)
//     a state 8 kB, a record 24 bytes, pool 144 bytes
//     6 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[3] (fma at scatter_in_loop.rg:12, 24 bytes): kept: steps are not reversed without it; read at scatter_in_loop.rg:12
//   actions: tape 0..6 at 0 by 0, turn, reverse 0..6 at 0 by 0, done
//
