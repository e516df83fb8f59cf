// A branch whose values are dear: a record keeps them, in places that both branches share.
// strategy: auto
// strategy: ilp
// strategy: revolve
fn main(%x: f64[100], %w: f64[100]) -> f64 {
  %0: i64 = constant {value=20}
  %1: f64[100] = for %0 carries(%x) invariants(%w) {body=step}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn step(%i: i64, %x: f64[100], %w: f64[100]) -> f64[100] {
  %0: i64 = constant {value=2}
  %1: i64 = rem %i, %0
  %2: i64 = constant {value=0}
  %3: bool = gt %1, %2
  %4: f64[100] = if %3 args(%x, %w) {then=odd, else=even}
  return %4
}
fn odd(%x: f64[100], %w: f64[100]) -> f64[100] {
  %0: f64[100] = sin %x
  %1: f64[100] = exp %0
  %2: f64[100] = mul %1, %w
  return %2
}
fn even(%x: f64[100], %w: f64[100]) -> f64[100] {
  %0: f64[100] = mul %x, %w
  %1: f64[100] = tanh %0
  return %1
}
// ---- expected
// plan by `auto`: peak 29.72 kB (29720 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at branch_residuals.rg:7, 24 kB
//   at the peak: arrays and controllers, 5.29 kB
//   a loop that treats elements alike is interchanged: tiles of 50 of them
//     loop at branch_residuals.rg:7: 20 steps: 20 records of 1.2 kB, each step run once (keep all)
//       a state 400 bytes, a record 1.2 kB, pool 24 kB (24000 bytes)
//       20 forward steps (1.00 per step, the program's own loop included), 0 states held
//       f64[50] (state, 400 bytes): kept: steps are not reversed without it; read at branch_residuals.rg:26, branch_residuals.rg:20, branch_residuals.rg:16
//       f64[50] (exp at branch_residuals.rg:21 or neg at branch_residuals.rg:27, 400 bytes): kept: to compute it again takes 137.2 ns a step; read at branch_residuals.rg:20, branch_residuals.rg:16
//       f64[50] (cos at branch_residuals.rg:20 or fma at branch_residuals.rg:27, 400 bytes): kept: to compute it again takes 137.2 ns a step; read at branch_residuals.rg:16
//
// plan by `ilp`: peak 53.08 kB (53080 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at branch_residuals.rg:7, 48 kB
//   at the peak: arrays and controllers, 4.89 kB
//   loop at branch_residuals.rg:7: 20 steps: 20 records of 2.4 kB, each step run once (keep all)
//     a state 800 bytes, a record 2.4 kB, pool 48 kB (48000 bytes)
//     20 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[100] (state, 800 bytes): kept: steps are not reversed without it; read at branch_residuals.rg:26, branch_residuals.rg:20, branch_residuals.rg:16
//     f64[100] (sin at branch_residuals.rg:20 or tanh at branch_residuals.rg:27, 800 bytes): computed again from what is kept: no slower than to write and read 800 bytes a step; read at branch_residuals.rg:21, branch_residuals.rg:20
//     f64[100] (exp at branch_residuals.rg:21 or neg at branch_residuals.rg:27, 800 bytes): kept: to compute it again takes 117.3 ns a step; read at branch_residuals.rg:20, branch_residuals.rg:16
//     f64[100] (cos at branch_residuals.rg:20 or fma at branch_residuals.rg:27, 800 bytes): kept: to compute it again takes 117.3 ns a step; read at branch_residuals.rg:16
//
// plan by `revolve`: peak 21.3 kB (21296 bytes)
// no budget
// work 1.501 times the least without a budget, 16.2 % above the bound for this memory
//   at the peak: states and records of the loop at branch_residuals.rg:7, 15.2 kB
//   at the peak: arrays and controllers, 5.84 kB
//   loop at branch_residuals.rg:7: 20 steps: 19 snapshots of 800 bytes, each step run at most 2 times (revolve with 20 slots)
//     a state 800 bytes, no records, pool 15.2 kB (15200 bytes)
//     40 forward steps (2.00 per step, the program's own loop included), 19 states held
//     f64[100] (state, 800 bytes): held of some steps: the others run up to it again; of every step it is 16 kB; read at branch_residuals.rg:26, branch_residuals.rg:20, branch_residuals.rg:16
//     f64[100] (exp at branch_residuals.rg:21 or neg at branch_residuals.rg:27, 800 bytes): computed again from the state: nothing is recorded; of every step it is 16 kB; read at branch_residuals.rg:20, branch_residuals.rg:16
//     f64[100] (cos at branch_residuals.rg:20 or fma at branch_residuals.rg:27, 800 bytes): computed again from the state: nothing is recorded; of every step it is 16 kB; read at branch_residuals.rg:16
//
