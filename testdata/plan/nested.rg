// A loop in a loop: the inner one is unwound once per outer step.
// strategy: auto
// strategy: keep_all
// strategy: periodic 2
// strategy: revolve
fn main(%s: f64[4], %w: f64[4]) -> f64 {
  %0: i64 = constant {value=5}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=outer}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn outer(%i: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: i64 = constant {value=3}
  %1: f64[4] = for %0 carries(%s) invariants(%w) {body=inner}
  %2: f64[4] = add %1, %s
  return %2
}
fn inner(%j: i64, %s: f64[4], %w: f64[4]) -> f64[4] {
  %0: f64[4] = mul %s, %w
  %1: f64[4] = sin %0
  return %1
}
// ---- expected
// plan by `auto`: peak 592 bytes
// no budget
//   loop at nested.rg:8: 5 steps, keep all
//     state 32 bytes a snapshot, residuals 32 bytes a step
//     0 snapshots, 5 tape rows, 5 forward steps (1.00 per step, the program's own loop included)
//     residual f64[4] (state, 32 bytes): kept
//     loop at nested.rg:14: 3 steps, keep all
//       state 32 bytes a snapshot, residuals 64 bytes a step
//       0 snapshots, 3 tape rows, 3 forward steps (1.00 per step, besides the program's own)
//       residual f64[4] (state, 32 bytes): kept
//       residual f64[4] (cos at nested.rg:20, 32 bytes): kept
//   actions: tape 0..5 at 0, turn, reverse 0..5 at 0, done
//   actions: tape 0..3 at 0, reverse 0..3 at 0, done
//
// plan by `keep_all`: peak 592 bytes
// no budget
//   loop at nested.rg:8: 5 steps, keep all
//     state 32 bytes a snapshot, residuals 32 bytes a step
//     0 snapshots, 5 tape rows, 5 forward steps (1.00 per step, the program's own loop included)
//     residual f64[4] (state, 32 bytes): kept
//     loop at nested.rg:14: 3 steps, keep all
//       state 32 bytes a snapshot, residuals 64 bytes a step
//       0 snapshots, 3 tape rows, 3 forward steps (1.00 per step, besides the program's own)
//       residual f64[4] (state, 32 bytes): kept
//       residual f64[4] (cos at nested.rg:20, 32 bytes): kept
//   actions: tape 0..5 at 0, turn, reverse 0..5 at 0, done
//   actions: tape 0..3 at 0, reverse 0..3 at 0, done
//
// plan by `periodic`: peak 496 bytes
// no budget
//   loop at nested.rg:8: 5 steps, every 2 steps
//     state 32 bytes a snapshot, residuals 32 bytes a step
//     1 snapshots, 2 tape rows, 9 forward steps (1.80 per step, the program's own loop included)
//     residual f64[4] (state, 32 bytes): kept
//     loop at nested.rg:14: 3 steps, every 2 steps
//       state 32 bytes a snapshot, residuals 64 bytes a step
//       0 snapshots, 2 tape rows, 5 forward steps (1.67 per step, besides the program's own)
//       residual f64[4] (state, 32 bytes): kept
//       residual f64[4] (cos at nested.rg:20, 32 bytes): kept
//   actions: advance 0..2, snapshot x2 in 1, advance 2..4, tape 4..5 at 0, turn, reverse 4..5 at 0, restore x2 from 1, tape 2..4 at 0, reverse 2..4 at 0, restore x0 from 0, tape 0..2 at 0, reverse 0..2 at 0, done
//   actions: advance 0..2, tape 2..3 at 0, reverse 2..3 at 0, restore x0 from 0, tape 0..2 at 0, reverse 0..2 at 0, done
//
// plan by `revolve`: peak 488 bytes
// no budget
//   loop at nested.rg:8: 5 steps, revolve with 5 slots
//     state 32 bytes a snapshot, residuals 32 bytes a step
//     4 snapshots, 0 tape rows, 10 forward steps (2.00 per step, the program's own loop included)
//     residual f64[4] (state, 32 bytes): recomputed from the state
//     loop at nested.rg:14: 3 steps, revolve with 2 slots
//       state 32 bytes a snapshot, residuals 64 bytes a step
//       1 snapshots, 0 tape rows, 5 forward steps (1.67 per step, besides the program's own)
//       residual f64[4] (state, 32 bytes): recomputed from the state
//       residual f64[4] (cos at nested.rg:20, 32 bytes): recomputed from the state
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, snapshot x2 in 2, advance 2..3, snapshot x3 in 3, advance 3..4, snapshot x4 in 4, advance 4..5, turn, restore x4 from 4, turnback 4, restore x3 from 3, turnback 3, restore x2 from 2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//
