// A branch in a loop: each side has its own residuals.
// strategy: auto
// strategy: keep_all
// strategy: revolve
fn main(%x: f64, %w: f64) -> f64 {
  %0: i64 = constant {value=6}
  %1: f64 = for %0 carries(%x) invariants(%w) {body=step}
  return %1
}
fn step(%i: i64, %x: f64, %w: f64) -> f64 {
  %0: f64 = constant {value=0.0}
  %1: bool = lt %x, %0
  %2: f64 = if %1 args(%x, %w) {then=below, else=above}
  return %2
}
fn below(%x: f64, %w: f64) -> f64 {
  %0: f64 = mul %x, %w
  return %0
}
fn above(%x: f64, %w: f64) -> f64 {
  %0: f64 = exp %x
  %1: f64 = sub %w, %0
  return %1
}
// ---- expected
// plan by `auto`: peak 280 bytes
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at if_in_loop.rg:7, 144 bytes
//   at the peak: arrays and controllers, 88 bytes
//   loop at if_in_loop.rg:7: 6 steps: 6 records of 24 bytes, each step run once (keep all)
//     a state 8 bytes, a record 24 bytes, pool 144 bytes
//     6 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64 (state, 8 bytes): kept: steps are not reversed without it; read at if_in_loop.rg:12, if_in_loop.rg:21, if_in_loop.rg:13
//     bool (lt at if_in_loop.rg:12, 1 bytes): kept: to compute it again takes hardly any time a step; read at if_in_loop.rg:21, if_in_loop.rg:13
//     f64 (exp at if_in_loop.rg:21, 8 bytes): kept: to compute it again takes 1.8 ns a step; read at if_in_loop.rg:13
//   actions: tape 0..6 at 0 by 0, turn, reverse 0..6 at 0 by 0, done
//
// plan by `keep_all`: peak 280 bytes
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at if_in_loop.rg:7, 144 bytes
//   at the peak: arrays and controllers, 88 bytes
//   loop at if_in_loop.rg:7: 6 steps: 6 records of 24 bytes, each step run once (keep all)
//     a state 8 bytes, a record 24 bytes, pool 144 bytes
//     6 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64 (state, 8 bytes): kept: steps are not reversed without it; read at if_in_loop.rg:12, if_in_loop.rg:21, if_in_loop.rg:13
//     bool (lt at if_in_loop.rg:12, 1 bytes): kept: to compute it again takes hardly any time a step; read at if_in_loop.rg:21, if_in_loop.rg:13
//     f64 (exp at if_in_loop.rg:21, 8 bytes): kept: to compute it again takes 1.8 ns a step; read at if_in_loop.rg:13
//   actions: tape 0..6 at 0 by 0, turn, reverse 0..6 at 0 by 0, done
//
// plan by `revolve`: peak 168 bytes
// no budget
// work 7.938 times the least without a budget, 693.8 % above the bound for this memory
//   at the peak: states and records of the loop at if_in_loop.rg:7, 40 bytes
//   at the peak: arrays and controllers, 128 bytes
//   loop at if_in_loop.rg:7: 6 steps: 5 snapshots of 8 bytes, each step run at most 2 times (revolve with 6 slots)
//     a state 8 bytes, no records, pool 40 bytes
//     12 forward steps (2.00 per step, the program's own loop included), 5 states held
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 48 bytes; read at if_in_loop.rg:12, if_in_loop.rg:21, if_in_loop.rg:13
//     bool (lt at if_in_loop.rg:12, 1 bytes): computed again from the state: nothing is recorded; of every step it is 6 bytes; read at if_in_loop.rg:21, if_in_loop.rg:13
//     f64 (exp at if_in_loop.rg:21, 8 bytes): computed again from the state: nothing is recorded; of every step it is 48 bytes; read at if_in_loop.rg:13
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, snapshot x2 at 8, advance 2..3, snapshot x3 at 16, advance 3..4, snapshot x4 at 24, advance 4..5, snapshot x5 at 32, advance 5..6, turn, restore x5 from 32, youturn 5, restore x4 from 24, youturn 4, restore x3 from 16, youturn 3, restore x2 from 8, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//
