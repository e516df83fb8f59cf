// s = s + 0.01 tanh(theta s), ten times.
// strategy: auto
// strategy: keep_all
// strategy: periodic 3
// strategy: revolve
fn main(%s: f64[100], %theta: f64[100]) -> f64 {
  %0: i64 = constant {value=10}
  %1: f64[100] = for %0 carries(%s) invariants(%theta) {body=step}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn step(%i: i64, %s: f64[100], %theta: f64[100]) -> f64[100] {
  %0: f64[100] = mul %theta, %s
  %1: f64[100] = tanh %0
  %2: f64 = constant {value=0.01}
  %3: f64[100] = broadcast %2 {shape=[100], axes=[]}
  %4: f64[100] = mul %3, %1
  %5: f64[100] = add %s, %4
  return %5
}
// ---- expected
// plan by `auto`: peak 12.36 kB (12360 bytes)
// no budget
//   a loop that treats elements alike runs in tiles of 50 of them
//     loop at tanh_loop.rg:8: 10 steps, keep all
//       state 400 bytes a snapshot, residuals 800 bytes a step
//       0 snapshots, 10 tape rows, 10 forward steps (1.00 per step, the program's own loop included)
//       residual f64[50] (state, 400 bytes): kept
//       residual f64[50] (fma at tanh_loop.rg:14, 400 bytes): kept
//   actions: tape 0..10 at 0, turn, reverse 0..10 at 0, done
//
// plan by `keep_all`: peak 17.69 kB (17688 bytes)
// no budget
//   loop at tanh_loop.rg:8: 10 steps, keep all
//     state 800 bytes a snapshot, residuals 1.6 kB a step
//     0 snapshots, 10 tape rows, 10 forward steps (1.00 per step, the program's own loop included)
//     residual f64[100] (state, 800 bytes): kept
//     residual f64[100] (fma at tanh_loop.rg:14, 800 bytes): kept
//   actions: tape 0..10 at 0, turn, reverse 0..10 at 0, done
//
// plan by `periodic`: peak 8.98 kB (8984 bytes)
// no budget
//   loop at tanh_loop.rg:8: 10 steps, every 3 steps
//     state 800 bytes a snapshot, residuals 1.6 kB a step
//     2 snapshots, 3 tape rows, 19 forward steps (1.90 per step, the program's own loop included)
//     residual f64[100] (state, 800 bytes): kept
//     residual f64[100] (fma at tanh_loop.rg:14, 800 bytes): kept
//   actions: advance 0..3, snapshot x3 in 1, advance 3..6, snapshot x6 in 2, advance 6..9, tape 9..10 at 0, turn, reverse 9..10 at 0, restore x6 from 2, tape 6..9 at 0, reverse 6..9 at 0, restore x3 from 1, tape 3..6 at 0, reverse 3..6 at 0, restore x0 from 0, tape 0..3 at 0, reverse 0..3 at 0, done
//
// plan by `revolve`: peak 9.86 kB (9864 bytes)
// no budget
//   loop at tanh_loop.rg:8: 10 steps, revolve with 10 slots
//     state 800 bytes a snapshot, residuals 1.6 kB a step
//     9 snapshots, 0 tape rows, 20 forward steps (2.00 per step, the program's own loop included)
//     residual f64[100] (state, 800 bytes): recomputed from the state
//     residual f64[100] (fma at tanh_loop.rg:14, 800 bytes): recomputed from the state
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, snapshot x2 in 2, advance 2..3, snapshot x3 in 3, advance 3..4, snapshot x4 in 4, advance 4..5, snapshot x5 in 5, advance 5..6, snapshot x6 in 6, advance 6..7, snapshot x7 in 7, advance 7..8, snapshot x8 in 8, advance 8..9, snapshot x9 in 9, advance 9..10, turn, restore x9 from 9, turnback 9, restore x8 from 8, turnback 8, restore x7 from 7, turnback 7, restore x6 from 6, turnback 6, restore x5 from 5, turnback 5, restore x4 from 4, turnback 4, restore x3 from 3, turnback 3, restore x2 from 2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//
