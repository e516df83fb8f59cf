// Lorenz by Euler, three scalars, a count known at run time.
fn main(%n: i64, %x: f64, %y: f64, %z: f64, %rho: f64) -> f64 {
  %0: f64, %1: f64, %2: f64 = for %n carries(%x, %y, %z) invariants(%rho) {body=step}
  return %0
}
fn step(%i: i64, %x: f64, %y: f64, %z: f64, %rho: f64) -> f64, f64, f64 {
  %h: f64 = constant {value=0.01}
  %sigma: f64 = constant {value=10.0}
  %beta: f64 = constant {value=2.5}
  %0: f64 = sub %y, %x
  %1: f64 = mul %sigma, %0
  %2: f64 = mul %h, %1
  %3: f64 = add %x, %2
  %4: f64 = sub %rho, %z
  %5: f64 = mul %x, %4
  %6: f64 = sub %5, %y
  %7: f64 = mul %h, %6
  %8: f64 = add %y, %7
  %9: f64 = mul %x, %y
  %10: f64 = mul %beta, %z
  %11: f64 = sub %9, %10
  %12: f64 = mul %h, %11
  %13: f64 = add %z, %12
  return %3, %8, %13
}
// ---- expected
// fn main_vjp(%0: i64, %1: f64, %2: f64, %3: f64, %4: f64, %5: f64) -> f64, f64, f64, f64, f64 {
//   %6: f64, %7: f64, %8: f64 = for %0 carries(%1, %2, %3) invariants(%4) {body=step}
//   %9: f64 = constant {value=0.0}
//   %10: f64, %11: f64, %12: f64, %13: f64 = unwind %0 carries(%1, %2, %3) invariants(%4) adjoints(%5, %9, %9) running(%9) {body=step, bwd=step_vjp}
//   return %6, %10, %11, %12, %13
// }
//
// fn step(%0: i64, %1: f64, %2: f64, %3: f64, %4: f64) -> f64, f64, f64 {
//   %5: f64 = constant {value=0.01}
//   %6: f64 = constant {value=10.0}
//   %7: f64 = constant {value=2.5}
//   %8: f64 = sub %2, %1
//   %9: f64 = mul %6, %8
//   %10: f64 = mul %5, %9
//   %11: f64 = add %1, %10
//   %12: f64 = sub %4, %3
//   %13: f64 = mul %1, %12
//   %14: f64 = sub %13, %2
//   %15: f64 = mul %5, %14
//   %16: f64 = add %2, %15
//   %17: f64 = mul %1, %2
//   %18: f64 = mul %7, %3
//   %19: f64 = sub %17, %18
//   %20: f64 = mul %5, %19
//   %21: f64 = add %3, %20
//   return %11, %16, %21
// }
//
// fn step_vjp(%0: i64, %1: f64, %2: f64, %3: f64, %4: f64, %5: f64, %6: f64, %7: f64, %8: f64) -> f64, f64, f64, f64 {
//   %9: f64 = constant {value=0.01}
//   %10: f64 = constant {value=10.0}
//   %11: f64 = constant {value=2.5}
//   %12: f64 = sub %4, %3
//   %13: f64 = mul %9, %7
//   %14: f64 = neg %13
//   %15: f64 = mul %11, %14
//   %16: f64 = add %7, %15
//   %17: f64 = mul %2, %13
//   %18: f64 = mul %1, %13
//   %19: f64 = add %18, %6
//   %20: f64 = mul %9, %6
//   %21: f64 = neg %20
//   %22: f64 = add %19, %21
//   %23: f64 = mul %12, %20
//   %24: f64 = add %17, %23
//   %25: f64 = mul %1, %20
//   %26: f64 = add %8, %25
//   %27: f64 = neg %25
//   %28: f64 = add %16, %27
//   %29: f64 = add %24, %5
//   %30: f64 = mul %9, %5
//   %31: f64 = mul %10, %30
//   %32: f64 = add %22, %31
//   %33: f64 = neg %31
//   %34: f64 = add %29, %33
//   return %34, %32, %28, %26
// }
