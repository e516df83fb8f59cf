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
// plan by `auto`: peak 110 bytes
// no budget
//   loop at if_in_loop.rg:7: 6 steps, keep all
//     state 8 bytes a snapshot, residuals 9 bytes a step
//     0 snapshots, 6 tape rows, 6 forward steps (1.00 per step, the program's own loop included)
//     residual f64 (state, 8 bytes): kept
//     residual bool (lt at if_in_loop.rg:12, 1 bytes): kept
//   actions: tape 0..6 at 0, turn, reverse 0..6 at 0, done
//
// plan by `keep_all`: peak 110 bytes
// no budget
//   loop at if_in_loop.rg:7: 6 steps, keep all
//     state 8 bytes a snapshot, residuals 9 bytes a step
//     0 snapshots, 6 tape rows, 6 forward steps (1.00 per step, the program's own loop included)
//     residual f64 (state, 8 bytes): kept
//     residual bool (lt at if_in_loop.rg:12, 1 bytes): kept
//   actions: tape 0..6 at 0, turn, reverse 0..6 at 0, done
//
// plan by `revolve`: peak 144 bytes
// no budget
//   loop at if_in_loop.rg:7: 6 steps, revolve with 6 slots
//     state 8 bytes a snapshot, residuals 9 bytes a step
//     5 snapshots, 0 tape rows, 12 forward steps (2.00 per step, the program's own loop included)
//     residual f64 (state, 8 bytes): recomputed from the state
//     residual bool (lt at if_in_loop.rg:12, 1 bytes): recomputed from the state
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, snapshot x2 in 2, advance 2..3, snapshot x3 in 3, advance 3..4, snapshot x4 in 4, advance 4..5, snapshot x5 in 5, advance 5..6, turn, restore x5 from 5, turnback 5, restore x4 from 4, turnback 4, restore x3 from 3, turnback 3, restore x2 from 2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//
