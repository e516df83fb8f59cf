// A loop of one step is its body, a branch on a constant is one of its bodies, and what the inner loop does not change is computed
// once, before the outer one; the literal moves in.
fn main(%n: i64, %x: f64, %y: f64) -> f64, f64 {
  %one: i64 = constant {value=1}
  %half: f64 = constant {value=0.5}
  %yes: bool = lt %half, %half
  %0: f64 = for %one carries(%x) invariants(%half, %y) {body=inner}
  %1: f64 = if %yes args(%0, %y) {then=larger, else=smaller}
  %2: f64, %3: f64 = for %n carries(%1, %half) invariants(%y) {body=outer}
  return %2, %3
}
fn inner(%i: i64, %c: f64, %k: f64, %y: f64) -> f64 {
  %0: f64 = exp %y
  %1: f64 = mul %0, %k
  %2: f64 = mul %1, %c
  return %2
}
fn larger(%a: f64, %b: f64) -> f64 {
  %0: f64 = add %a, %b
  return %0
}
fn smaller(%a: f64, %b: f64) -> f64 {
  %0: f64 = sub %a, %b
  return %0
}
fn outer(%i: i64, %c: f64, %k: f64, %y: f64) -> f64, f64 {
  %five: i64 = constant {value=5}
  %0: f64 = for %five carries(%c) invariants(%k, %y) {body=inner}
  return %0, %k
}
// ---- expected
// fn main(%0: i64, %1: f64, %2: f64) -> f64, f64 {
//   %3: f64 = constant {value=0.5}
//   %4: f64 = exp %2
//   %5: f64 = mul %4, %3 {exact}
//   %6: f64 = mul %5, %1 {exact}
//   %7: f64 = sub %6, %2 {exact}
//   %8: f64 = for %0 carries(%7) invariants(%5) {body=outer}
//   return %8, %3
// }
//
// fn outer(%0: i64, %1: f64, %2: f64) -> f64 {
//   %3: i64 = constant {value=5}
//   %4: f64 = for %3 carries(%1) invariants(%2) {body=inner}
//   return %4
// }
//
// fn inner(%0: i64, %1: f64, %2: f64) -> f64 {
//   %3: f64 = mul %2, %1 {exact}
//   return %3
// }
