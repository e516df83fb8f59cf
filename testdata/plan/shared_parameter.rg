// s = s + 0.01 tanh(theta s), ten times, with one theta for all: its cotangent is summed over the elements after the loop, so the loop runs in tiles.
// strategy: auto
fn main(%s: f64[100], %theta: f64) -> f64 {
  %0: i64 = constant {value=10}
  %1: f64[100] = for %0 carries(%s) invariants(%theta) {body=step}
  %2: f64 = sum %1 {axes=[0]}
  return %2
}
fn step(%i: i64, %s: f64[100], %theta: f64) -> f64[100] {
  %0: f64[100] = broadcast %theta {shape=[100], axes=[]}
  %1: f64[100] = mul %0, %s
  %2: f64[100] = tanh %1
  %3: f64 = constant {value=0.01}
  %4: f64[100] = broadcast %3 {shape=[100], axes=[]}
  %5: f64[100] = mul %4, %2
  %6: f64[100] = add %s, %5
  return %6
}
// ---- expected
// plan by `auto`: peak 11.93 kB (11928 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at shared_parameter.rg:5, 8 kB
//   at the peak: arrays and controllers, 3.69 kB
//   a loop that treats elements alike is interchanged: tiles of 50 of them
//     loop at shared_parameter.rg:5: 10 steps: 10 records of 800 bytes, each step run once (keep all)
//       a state 400 bytes, a record 800 bytes, pool 8 kB (8000 bytes)
//       10 forward steps (1.00 per step, the program's own loop included), 0 states held
//       f64[50] (state, 400 bytes): kept: steps are not reversed without it; read at shared_parameter.rg:11, shared_parameter.rg:5
//       f64[50] (fma at shared_parameter.rg:12, 400 bytes): kept: to compute it again takes 47.5 ns a step; read at shared_parameter.rg:12
//   actions: tape 0..10 at 0 by 0, turn, reverse 0..10 at 0 by 0, done
//
