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
// plan by `auto`: peak 544 bytes
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at nested.rg:8, 160 bytes
//   at the peak: states and records of the loop at nested.rg:14, 64 bytes
//   at the peak: arrays and controllers, 304 bytes
//   loop at nested.rg:8: 5 steps: 5 records of 32 bytes, each step run once (keep all)
//     a state 32 bytes, a record 32 bytes, pool 160 bytes
//     5 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[4] (state, 32 bytes): kept: steps are not reversed without it; read at nested.rg:14
//     loop at nested.rg:14: 3 steps: 2 records of 32 bytes, each step run once (states and records mixed: 2 steps recorded, 1 turned back, 0 states held, 0 steps run again)
//       a state 32 bytes, a record 32 bytes, pool 64 bytes
//       3 forward steps (1.00 per step, besides the program's own), 0 states held
//       f64[4] (state, 32 bytes): kept of 2 steps, computed again for the other 1: of every step it is 96 bytes; read at nested.rg:19
//       f64[4] (cos at nested.rg:20, 32 bytes): computed again from what is kept: no slower than to write and read 32 bytes a step; read at nested.rg:20
//   actions: tape 0..5 at 0 by 0, turn, reverse 0..5 at 0 by 0, done
//   actions: tape 0..2 at 0 by 1, youturn 2, reverse 0..2 at 0 by 1, done
//
// plan by `keep_all`: peak 664 bytes
// no budget
// work 1.094 times the least without a budget, 9.4 % above the bound for this memory
//   at the peak: states and records of the loop at nested.rg:8, 160 bytes
//   at the peak: states and records of the loop at nested.rg:14, 192 bytes
//   at the peak: arrays and controllers, 304 bytes
//   loop at nested.rg:8: 5 steps: 5 records of 32 bytes, each step run once (keep all)
//     a state 32 bytes, a record 32 bytes, pool 160 bytes
//     5 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[4] (state, 32 bytes): kept: steps are not reversed without it; read at nested.rg:14
//     loop at nested.rg:14: 3 steps: 3 records of 64 bytes, each step run once (keep all)
//       a state 32 bytes, a record 64 bytes, pool 192 bytes
//       3 forward steps (1.00 per step, besides the program's own), 0 states held
//       f64[4] (state, 32 bytes): kept: steps are not reversed without it; read at nested.rg:19
//       f64[4] (cos at nested.rg:20, 32 bytes): kept: other values follow from it, which then need not be kept; read at nested.rg:20
//   actions: tape 0..5 at 0 by 0, turn, reverse 0..5 at 0 by 0, done
//   actions: tape 0..3 at 0 by 0, reverse 0..3 at 0 by 0, done
//
// plan by `periodic`: peak 608 bytes
// no budget
// work 1.704 times the least without a budget, 70.4 % above the bound for this memory
//   at the peak: states and records of the loop at nested.rg:8, 64 bytes
//   at the peak: states and records of the loop at nested.rg:14, 128 bytes
//   at the peak: arrays and controllers, 400 bytes
//   loop at nested.rg:8: 5 steps: 1 snapshot of 32 bytes and 2 records of 32 bytes, each step run at most 2 times (every 2 steps)
//     a state 32 bytes, a record 32 bytes, pool 64 bytes
//     9 forward steps (1.80 per step, the program's own loop included), 1 states held
//     f64[4] (state, 32 bytes): kept: steps are not reversed without it; read at nested.rg:14
//     loop at nested.rg:14: 3 steps: 2 records of 64 bytes, each step run at most 2 times (every 2 steps)
//       a state 32 bytes, a record 64 bytes, pool 128 bytes
//       5 forward steps (1.67 per step, besides the program's own), 0 states held
//       f64[4] (state, 32 bytes): kept: steps are not reversed without it; read at nested.rg:19
//       f64[4] (cos at nested.rg:20, 32 bytes): kept: other values follow from it, which then need not be kept; read at nested.rg:20
//   actions: advance 0..2, snapshot x2 at 0, advance 2..4, tape 4..5 at 32 by 0, turn, reverse 4..5 at 32 by 0, restore x2 from 0, tape 2..4 at 0 by 0, reverse 2..4 at 0 by 0, restore x0 from the start, tape 0..2 at 0 by 0, reverse 0..2 at 0 by 0, done
//   actions: advance 0..2, tape 2..3 at 0 by 0, reverse 2..3 at 0 by 0, restore x0 from the start, tape 0..2 at 0 by 0, reverse 0..2 at 0 by 0, done
//
// plan by `revolve`: peak 544 bytes
// no budget
// work 1.257 times the least without a budget, 25.7 % above the bound for this memory
//   at the peak: states and records of the loop at nested.rg:8, 128 bytes
//   at the peak: states and records of the loop at nested.rg:14, 32 bytes
//   at the peak: arrays and controllers, 376 bytes
//   loop at nested.rg:8: 5 steps: 4 snapshots of 32 bytes, each step run at most 2 times (revolve with 5 slots)
//     a state 32 bytes, no records, pool 128 bytes
//     10 forward steps (2.00 per step, the program's own loop included), 4 states held
//     f64[4] (state, 32 bytes): held of some steps: the others run up to it again; of every step it is 160 bytes; read at nested.rg:14
//     loop at nested.rg:14: 3 steps: 1 snapshot of 32 bytes, each step run at most 2 times (revolve with 2 slots)
//       a state 32 bytes, no records, pool 32 bytes
//       5 forward steps (1.67 per step, besides the program's own), 1 states held
//       f64[4] (state, 32 bytes): held of some steps: the others run up to it again; of every step it is 96 bytes; read at nested.rg:19
//       f64[4] (cos at nested.rg:20, 32 bytes): computed again from the state: nothing is recorded; of every step it is 96 bytes; read at nested.rg:20
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, snapshot x2 at 32, advance 2..3, snapshot x3 at 64, advance 3..4, snapshot x4 at 96, advance 4..5, turn, restore x4 from 96, youturn 4, restore x3 from 64, youturn 3, restore x2 from 32, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//
