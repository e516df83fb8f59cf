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
// plan by `auto`: peak 8.22 kB (8224 bytes)
// no budget
//   loop at scatter_in_loop.rg:6: 6 steps, keep all
//     state 8 kB a snapshot, residuals 24 bytes a step
//     0 snapshots, 6 tape rows, 6 forward steps (1.00 per step, the program's own loop included)
//     residual f64[3] (fma at scatter_in_loop.rg:12, 24 bytes): kept
//   actions: tape 0..6 at 0, turn, reverse 0..6 at 0, done
//
// plan by `keep_all`: peak 8.22 kB (8224 bytes)
// no budget
//   loop at scatter_in_loop.rg:6: 6 steps, keep all
//     state 8 kB a snapshot, residuals 24 bytes a step
//     0 snapshots, 6 tape rows, 6 forward steps (1.00 per step, the program's own loop included)
//     residual f64[3] (fma at scatter_in_loop.rg:12, 24 bytes): kept
//   actions: tape 0..6 at 0, turn, reverse 0..6 at 0, done
//
