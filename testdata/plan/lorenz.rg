// Lorenz by Euler, three scalars, a count known at run time.
// strategy: auto
// strategy: revolve
// strategy: keep_all
// budget: 400
// budget: 100000
fn main(%n: i64, %x: f64, %y: f64, %z: f64, %rho: f64) -> f64 {
  %0: f64, %1: f64, %2: f64 = for %n carries(%x, %y, %z) invariants(%rho) {body=step}
  return %0
}
fn step(%i: i64, %x: f64, %y: f64, %z: f64, %rho: f64) -> f64, f64, f64 {
  %h: f64 = constant {value=0.01}
  %sigma: f64 = constant {value=10.0}
  %beta: f64 = constant {value=2.5}
  %0: f64 = sub %y, %x
  %1: f64 = mul %sigma, %0
  %2: f64 = mul %h, %1
  %3: f64 = add %x, %2
  %4: f64 = sub %rho, %z
  %5: f64 = mul %x, %4
  %6: f64 = sub %5, %y
  %7: f64 = mul %h, %6
  %8: f64 = add %y, %7
  %9: f64 = mul %x, %y
  %10: f64 = mul %beta, %z
  %11: f64 = sub %9, %10
  %12: f64 = mul %h, %11
  %13: f64 = add %z, %12
  return %3, %8, %13
}
// ---- expected
// plan by `auto`: peak 344 bytes
// budget 400 bytes
// work 3.531 times the least without a budget, 101.4 % above the bound for this memory
//   at the peak: states and records of the loop at lorenz.rg:8, 192 bytes
//   at the peak: arrays and controllers, 152 bytes
//   loop at lorenz.rg:8: steps known at run time, revolve with 9 slots
//     a state 24 bytes, no records, pool 192 bytes
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at lorenz.rg:23, lorenz.rg:19
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at lorenz.rg:20
//     f64 (sub at lorenz.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at lorenz.rg:20
//
// plan by `auto`: peak 99.97 kB (99968 bytes)
// budget 100 kB (100000 bytes)
// work 1.001 times the least without a budget, 16.4 % above the bound for this memory
//   at the peak: states and records of the loop at lorenz.rg:8, 99.46 kB
//   at the peak: arrays and controllers, 512 bytes
//   loop at lorenz.rg:8: steps known at run time, revolve with 49 slots over blocks of 4096 steps, which are recorded when they are reversed
//     a state 24 bytes, a record 24 bytes, pool 99.46 kB (99456 bytes)
//     f64 (state, 8 bytes): kept: steps are not reversed without it; read at lorenz.rg:23, lorenz.rg:19
//     f64 (state, 8 bytes): kept: steps are not reversed without it; read at lorenz.rg:20
//     f64 (sub at lorenz.rg:19, 8 bytes): kept: steps are not reversed without it; read at lorenz.rg:20
//
// plan by `revolve`: peak 344 bytes
// budget 400 bytes
// work 3.531 times the least without a budget, 101.4 % above the bound for this memory
//   at the peak: states and records of the loop at lorenz.rg:8, 192 bytes
//   at the peak: arrays and controllers, 152 bytes
//   loop at lorenz.rg:8: steps known at run time, revolve with 9 slots
//     a state 24 bytes, no records, pool 192 bytes
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at lorenz.rg:23, lorenz.rg:19
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at lorenz.rg:20
//     f64 (sub at lorenz.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at lorenz.rg:20
//
// plan by `revolve`: peak 100 kB (100000 bytes)
// budget 100 kB (100000 bytes)
// work 1.270 times the least without a budget, 47.7 % above the bound for this memory
//   at the peak: states and records of the loop at lorenz.rg:8, 74.9 kB
//   at the peak: arrays and controllers, 25.06 kB
//   loop at lorenz.rg:8: steps known at run time, revolve with 3122 slots
//     a state 24 bytes, no records, pool 74.9 kB (74904 bytes)
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at lorenz.rg:23, lorenz.rg:19
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at lorenz.rg:20
//     f64 (sub at lorenz.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at lorenz.rg:20
//
// keep_all: lorenz.rg:8: unsupported: `keep_all` needs the number of steps before the run, and this loop's is known only at run time; use `revolve` or `auto`
//
// keep_all: lorenz.rg:8: unsupported: `keep_all` needs the number of steps before the run, and this loop's is known only at run time; use `revolve` or `auto`
//
