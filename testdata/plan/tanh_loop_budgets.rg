// Less memory, more steps; too little is refused with the smallest that is enough.
// strategy: revolve
// budget: 100
// budget: 7000
// budget: 9000
// budget: 100000
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
// revolve: over budget: the budget is 100 bytes; the smallest that this strategy can work with is 2.58 kB (2584 bytes), with 2.6 times the work of its plan without a budget
//
// plan by `revolve`: peak 6.66 kB (6656 bytes)
// budget 7 kB (7000 bytes)
// work 1.940 times the least without a budget, 39.4 % above the bound for this memory
//   at the peak: states and records of the loop at tanh_loop_budgets.rg:9, 4 kB
//   at the peak: arrays and controllers, 2.53 kB
//   loop at tanh_loop_budgets.rg:9: 10 steps: 5 snapshots of 800 bytes, each step run at most 3 times (revolve with 6 slots)
//     a state 800 bytes, no records, pool 4 kB (4000 bytes)
//     24 forward steps (2.40 per step, the program's own loop included), 5 states held
//     f64[100] (state, 800 bytes): held of some steps: the others run up to it again; of every step it is 8 kB; read at tanh_loop_budgets.rg:14
//     f64[100] (fma at tanh_loop_budgets.rg:15, 800 bytes): computed again from the state: nothing is recorded; of every step it is 8 kB; read at tanh_loop_budgets.rg:15
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, snapshot x2 at 800, advance 2..4, snapshot x4 at 1600, advance 4..6, snapshot x6 at 2400, advance 6..8, snapshot x8 at 3200, advance 8..10, turn, restore x8 from 3200, advance 8..9, youturn 9, restore x8 from 3200, youturn 8, restore x6 from 2400, advance 6..7, youturn 7, restore x6 from 2400, youturn 6, restore x4 from 1600, advance 4..5, youturn 5, restore x4 from 1600, youturn 4, restore x2 from 800, advance 2..3, youturn 3, restore x2 from 800, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//
// plan by `revolve`: peak 8.27 kB (8272 bytes)
// budget 9 kB (9000 bytes)
// work 1.816 times the least without a budget, 41.6 % above the bound for this memory
//   at the peak: states and records of the loop at tanh_loop_budgets.rg:9, 5.6 kB
//   at the peak: arrays and controllers, 2.54 kB
//   loop at tanh_loop_budgets.rg:9: 10 steps: 7 snapshots of 800 bytes, each step run at most 3 times (revolve with 8 slots)
//     a state 800 bytes, no records, pool 5.6 kB (5600 bytes)
//     22 forward steps (2.20 per step, the program's own loop included), 7 states held
//     f64[100] (state, 800 bytes): held of some steps: the others run up to it again; of every step it is 8 kB; read at tanh_loop_budgets.rg:14
//     f64[100] (fma at tanh_loop_budgets.rg:15, 800 bytes): computed again from the state: nothing is recorded; of every step it is 8 kB; read at tanh_loop_budgets.rg:15
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, snapshot x2 at 800, advance 2..3, snapshot x3 at 1600, advance 3..4, snapshot x4 at 2400, advance 4..5, snapshot x5 at 3200, advance 5..6, snapshot x6 at 4000, advance 6..8, snapshot x8 at 4800, advance 8..10, turn, restore x8 from 4800, advance 8..9, youturn 9, restore x8 from 4800, youturn 8, restore x6 from 4000, advance 6..7, youturn 7, restore x6 from 4000, youturn 6, restore x5 from 3200, youturn 5, restore x4 from 2400, youturn 4, restore x3 from 1600, youturn 3, restore x2 from 800, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//
// plan by `revolve`: peak 9.89 kB (9888 bytes)
// budget 100 kB (100000 bytes)
// work 1.693 times the least without a budget, 69.3 % above the bound for this memory
//   at the peak: states and records of the loop at tanh_loop_budgets.rg:9, 7.2 kB
//   at the peak: arrays and controllers, 2.56 kB
//   loop at tanh_loop_budgets.rg:9: 10 steps: 9 snapshots of 800 bytes, each step run at most 2 times (revolve with 10 slots)
//     a state 800 bytes, no records, pool 7.2 kB (7200 bytes)
//     20 forward steps (2.00 per step, the program's own loop included), 9 states held
//     f64[100] (state, 800 bytes): held of some steps: the others run up to it again; of every step it is 8 kB; read at tanh_loop_budgets.rg:14
//     f64[100] (fma at tanh_loop_budgets.rg:15, 800 bytes): computed again from the state: nothing is recorded; of every step it is 8 kB; read at tanh_loop_budgets.rg:15
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, snapshot x2 at 800, advance 2..3, snapshot x3 at 1600, advance 3..4, snapshot x4 at 2400, advance 4..5, snapshot x5 at 3200, advance 5..6, snapshot x6 at 4000, advance 6..7, snapshot x7 at 4800, advance 7..8, snapshot x8 at 5600, advance 8..9, snapshot x9 at 6400, advance 9..10, turn, restore x9 from 6400, youturn 9, restore x8 from 5600, youturn 8, restore x7 from 4800, youturn 7, restore x6 from 4000, youturn 6, restore x5 from 3200, youturn 5, restore x4 from 2400, youturn 4, restore x3 from 1600, youturn 3, restore x2 from 800, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//
