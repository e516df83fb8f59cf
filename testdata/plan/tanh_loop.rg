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
// plan by `auto`: peak 11.93 kB (11928 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at tanh_loop.rg:8, 8 kB
//   at the peak: arrays and controllers, 3.69 kB
//   a loop that treats elements alike is interchanged: tiles of 50 of them
//     loop at tanh_loop.rg:8: 10 steps: 10 records of 800 bytes, each step run once (keep all)
//       a state 400 bytes, a record 800 bytes, pool 8 kB (8000 bytes)
//       10 forward steps (1.00 per step, the program's own loop included), 0 states held
//       f64[50] (state, 400 bytes): kept: steps are not reversed without it; read at tanh_loop.rg:13
//       f64[50] (fma at tanh_loop.rg:14, 400 bytes): kept: to compute it again takes 47.5 ns a step; read at tanh_loop.rg:14
//   actions: tape 0..10 at 0 by 0, turn, reverse 0..10 at 0 by 0, done
//
// plan by `keep_all`: peak 17.75 kB (17752 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at tanh_loop.rg:8, 16 kB
//   at the peak: arrays and controllers, 1.69 kB
//   loop at tanh_loop.rg:8: 10 steps: 10 records of 1.6 kB, each step run once (keep all)
//     a state 800 bytes, a record 1.6 kB, pool 16 kB (16000 bytes)
//     10 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[100] (state, 800 bytes): kept: steps are not reversed without it; read at tanh_loop.rg:13
//     f64[100] (fma at tanh_loop.rg:14, 800 bytes): kept: to compute it again takes 95 ns a step; read at tanh_loop.rg:14
//   actions: tape 0..10 at 0 by 0, turn, reverse 0..10 at 0 by 0, done
//
// plan by `periodic`: peak 8.25 kB (8248 bytes)
// no budget
// work 1.614 times the least without a budget, 24.4 % above the bound for this memory
//   at the peak: states and records of the loop at tanh_loop.rg:8, 5.6 kB
//   at the peak: arrays and controllers, 2.52 kB
//   loop at tanh_loop.rg:8: 10 steps: 2 snapshots of 800 bytes and 3 records of 1.6 kB, each step run at most 2 times (every 3 steps)
//     a state 800 bytes, a record 1.6 kB, pool 5.6 kB (5600 bytes)
//     19 forward steps (1.90 per step, the program's own loop included), 2 states held
//     f64[100] (state, 800 bytes): kept: steps are not reversed without it; read at tanh_loop.rg:13
//     f64[100] (fma at tanh_loop.rg:14, 800 bytes): kept: to compute it again takes 95 ns a step; read at tanh_loop.rg:14
//   actions: advance 0..3, snapshot x3 at 0, advance 3..6, snapshot x6 at 800, advance 6..9, tape 9..10 at 1600 by 0, turn, reverse 9..10 at 1600 by 0, restore x6 from 800, tape 6..9 at 800 by 0, reverse 6..9 at 800 by 0, restore x3 from 0, tape 3..6 at 0 by 0, reverse 3..6 at 0 by 0, restore x0 from the start, tape 0..3 at 0 by 0, reverse 0..3 at 0 by 0, done
//
// plan by `revolve`: peak 9.89 kB (9888 bytes)
// no budget
// work 1.693 times the least without a budget, 36.9 % above the bound for this memory
//   at the peak: states and records of the loop at tanh_loop.rg:8, 7.2 kB
//   at the peak: arrays and controllers, 2.56 kB
//   loop at tanh_loop.rg:8: 10 steps: 9 snapshots of 800 bytes, each step run at most 2 times (revolve with 10 slots)
//     a state 800 bytes, no records, pool 7.2 kB (7200 bytes)
//     20 forward steps (2.00 per step, the program's own loop included), 9 states held
//     f64[100] (state, 800 bytes): held of some steps: the others run up to it again; of every step it is 8 kB; read at tanh_loop.rg:13
//     f64[100] (fma at tanh_loop.rg:14, 800 bytes): computed again from the state: nothing is recorded; of every step it is 8 kB; read at tanh_loop.rg:14
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, snapshot x2 at 800, advance 2..3, snapshot x3 at 1600, advance 3..4, snapshot x4 at 2400, advance 4..5, snapshot x5 at 3200, advance 5..6, snapshot x6 at 4000, advance 6..7, snapshot x7 at 4800, advance 7..8, snapshot x8 at 5600, advance 8..9, snapshot x9 at 6400, advance 9..10, turn, restore x9 from 6400, youturn 9, restore x8 from 5600, youturn 8, restore x7 from 4800, youturn 7, restore x6 from 4000, youturn 6, restore x5 from 3200, youturn 5, restore x4 from 2400, youturn 4, restore x3 from 1600, youturn 3, restore x2 from 800, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//
