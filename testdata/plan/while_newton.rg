// x = (x + a / x) / 2 until x² is close to a: the count is known when the loop has ended, and its reverse starts from the first state.
// strategy: auto
// budget: 200
// budget: 2000
fn main(%a: f64) -> f64 {
  %one: f64 = constant {value=1.0}
  %x: f64, %n: i64 = while carries(%one) invariants(%a) {cond=far, body=step}
  return %x
}
fn far(%x: f64, %a: f64) -> bool {
  %xx: f64 = mul %x, %x
  %d: f64 = sub %xx, %a
  %dd: f64 = mul %d, %d
  %e: f64 = constant {value=1e-20}
  %p: bool = gt %dd, %e
  return %p
}
fn step(%x: f64, %a: f64) -> f64 {
  %q: f64 = div %a, %x
  %s: f64 = add %x, %q
  %h: f64 = constant {value=0.5}
  %y: f64 = mul %h, %s
  return %y
}
// ---- expected
// plan by `auto`: peak 184 bytes
// budget 200 bytes
// work 2.258 times the least without a budget, 93.1 % above the bound for this memory
//   at the peak: states and records of the loop at while_newton.rg:7, 24 bytes
//   at the peak: arrays and controllers, 160 bytes
//   loop at while_newton.rg:7: steps known at run time, 4 slots, filled while the loop runs; then revolve
//     a state 8 bytes, no records, pool 24 bytes
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     f64 (div at while_newton.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     f64 (neg at while_newton.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     f64 (fma at while_newton.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     bool (and at while_newton.rg:19, 1 bytes): computed again from the state: nothing is recorded; of every step it is 1 bytes times their number; read at while_newton.rg:19
//
// plan by `auto`: peak 1.96 kB (1960 bytes)
// budget 2 kB (2000 bytes)
// work 1.103 times the least without a budget, 7.1 % above the bound for this memory
//   at the peak: states and records of the loop at while_newton.rg:7, 616 bytes
//   at the peak: arrays and controllers, 1.34 kB
//   loop at while_newton.rg:7: steps known at run time, 78 slots, filled while the loop runs; then revolve
//     a state 8 bytes, no records, pool 616 bytes
//     f64 (state, 8 bytes): held of some steps: the others run up to it again; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     f64 (div at while_newton.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     f64 (neg at while_newton.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     f64 (fma at while_newton.rg:19, 8 bytes): computed again from the state: nothing is recorded; of every step it is 8 bytes times their number; read at while_newton.rg:19
//     bool (and at while_newton.rg:19, 1 bytes): computed again from the state: nothing is recorded; of every step it is 1 bytes times their number; read at while_newton.rg:19
//
