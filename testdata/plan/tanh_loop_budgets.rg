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
// revolve: over budget: the budget is 100 bytes; the smallest that this strategy can work with is 2.56 kB (2560 bytes)
//
// plan by `revolve`: peak 6.63 kB (6632 bytes)
// budget 7 kB (7000 bytes)
//   loop at tanh_loop_budgets.rg:9: 10 steps, revolve with 6 slots
//     state 800 bytes a snapshot, residuals 1.6 kB a step
//     5 snapshots, 0 tape rows, 24 forward steps (2.40 per step, the program's own loop included)
//     residual f64[100] (state, 800 bytes): recomputed from the state
//     residual f64[100] (fma at tanh_loop_budgets.rg:15, 800 bytes): recomputed from the state
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, snapshot x2 in 2, advance 2..4, snapshot x4 in 3, advance 4..6, snapshot x6 in 4, advance 6..8, snapshot x8 in 5, advance 8..10, turn, restore x8 from 5, advance 8..9, turnback 9, restore x8 from 5, turnback 8, restore x6 from 4, advance 6..7, turnback 7, restore x6 from 4, turnback 6, restore x4 from 3, advance 4..5, turnback 5, restore x4 from 3, turnback 4, restore x2 from 2, advance 2..3, turnback 3, restore x2 from 2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//
// plan by `revolve`: peak 8.25 kB (8248 bytes)
// budget 9 kB (9000 bytes)
//   loop at tanh_loop_budgets.rg:9: 10 steps, revolve with 8 slots
//     state 800 bytes a snapshot, residuals 1.6 kB a step
//     7 snapshots, 0 tape rows, 22 forward steps (2.20 per step, the program's own loop included)
//     residual f64[100] (state, 800 bytes): recomputed from the state
//     residual f64[100] (fma at tanh_loop_budgets.rg:15, 800 bytes): recomputed from the state
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, snapshot x2 in 2, advance 2..3, snapshot x3 in 3, advance 3..4, snapshot x4 in 4, advance 4..5, snapshot x5 in 5, advance 5..6, snapshot x6 in 6, advance 6..8, snapshot x8 in 7, advance 8..10, turn, restore x8 from 7, advance 8..9, turnback 9, restore x8 from 7, turnback 8, restore x6 from 6, advance 6..7, turnback 7, restore x6 from 6, turnback 6, restore x5 from 5, turnback 5, restore x4 from 4, turnback 4, restore x3 from 3, turnback 3, restore x2 from 2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//
// plan by `revolve`: peak 9.86 kB (9864 bytes)
// budget 100 kB (100000 bytes)
//   loop at tanh_loop_budgets.rg:9: 10 steps, revolve with 10 slots
//     state 800 bytes a snapshot, residuals 1.6 kB a step
//     9 snapshots, 0 tape rows, 20 forward steps (2.00 per step, the program's own loop included)
//     residual f64[100] (state, 800 bytes): recomputed from the state
//     residual f64[100] (fma at tanh_loop_budgets.rg:15, 800 bytes): recomputed from the state
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, snapshot x2 in 2, advance 2..3, snapshot x3 in 3, advance 3..4, snapshot x4 in 4, advance 4..5, snapshot x5 in 5, advance 5..6, snapshot x6 in 6, advance 6..7, snapshot x7 in 7, advance 7..8, snapshot x8 in 8, advance 8..9, snapshot x9 in 9, advance 9..10, turn, restore x9 from 9, turnback 9, restore x8 from 8, turnback 8, restore x7 from 7, turnback 7, restore x6 from 6, turnback 6, restore x5 from 5, turnback 5, restore x4 from 4, turnback 4, restore x3 from 3, turnback 3, restore x2 from 2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//
