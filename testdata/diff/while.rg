// Newton's iteration for the square root: the backward part walks back over as many steps as the loop took.
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
// fn main_vjp(%0: f64, %1: f64) -> f64, f64 {
//   %2: f64 = constant {value=1.0}
//   %3: f64, %4: i64 = while carries(%2) invariants(%0) {cond=far, body=step}
//   %5: f64 = constant {value=0.0}
//   %6: f64, %7: f64 = unwind %4 carries(%2) invariants(%0) adjoints(%1) running(%5) {body=step_2, bwd=step_vjp}
//   return %3, %7
// }
//
// fn far(%0: f64, %1: f64) -> bool {
//   %2: f64 = mul %0, %0
//   %3: f64 = sub %2, %1
//   %4: f64 = mul %3, %3
//   %5: f64 = constant {value=1e-20}
//   %6: bool = gt %4, %5
//   return %6
// }
//
// fn step(%0: f64, %1: f64) -> f64 {
//   %2: f64 = div %1, %0
//   %3: f64 = add %0, %2
//   %4: f64 = constant {value=0.5}
//   %5: f64 = mul %4, %3
//   return %5
// }
//
// fn step_2(%0: i64, %1: f64, %2: f64) -> f64 {
//   %3: f64 = div %2, %1
//   %4: f64 = add %1, %3
//   %5: f64 = constant {value=0.5}
//   %6: f64 = mul %5, %4
//   return %6
// }
//
// fn step_vjp(%0: i64, %1: f64, %2: f64, %3: f64, %4: f64) -> f64, f64 {
//   %5: f64 = div %2, %1
//   %6: f64 = constant {value=0.5}
//   %7: f64 = mul %6, %3
//   %8: f64 = constant {value=1.0}
//   %9: f64 = div %8, %1
//   %10: f64 = mul %9, %7
//   %11: f64 = add %4, %10
//   %12: f64 = mul %5, %9
//   %13: f64 = neg %12
//   %14: f64 = mul %13, %7
//   %15: f64 = add %7, %14
//   return %15, %11
// }
