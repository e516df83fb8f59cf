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
// plan by `auto`: peak 192 bytes
// budget 200 bytes
// work 1.190 times the least without a budget
//   at the peak: states and records of the loop at while_newton.rg:7, 64 bytes
//   at the peak: arrays and controllers, 128 bytes
//   loop at while_newton.rg:7: steps known at run time, revolve with 9 slots
//     a state 8 bytes, no records, pool 64 bytes
//     f64 (state, 8 bytes): recomputed from the state: nothing is recorded
//     f64 (div at while_newton.rg:19, 8 bytes): recomputed from the state: nothing is recorded
//     f64 (neg at while_newton.rg:19, 8 bytes): recomputed from the state: nothing is recorded
//
// plan by `auto`: peak 1.98 kB (1984 bytes)
// budget 2 kB (2000 bytes)
// work 1.000 times the least without a budget
//   at the peak: states and records of the loop at while_newton.rg:7, 960 bytes
//   at the peak: arrays and controllers, 1.02 kB
//   loop at while_newton.rg:7: steps known at run time, revolve with 121 slots
//     a state 8 bytes, no records, pool 960 bytes
//     f64 (state, 8 bytes): recomputed from the state: nothing is recorded
//     f64 (div at while_newton.rg:19, 8 bytes): recomputed from the state: nothing is recorded
//     f64 (neg at while_newton.rg:19, 8 bytes): recomputed from the state: nothing is recorded
//
