// An `if` in a `for` in a `for`; a loop without carries is a map; a loop without results is allowed.
fn main(%n: i64, %x: f64[4], %w: f64[5,4]) -> f64[4], f64[5] {
  %y: f64[4], %s: f64[5] = for %n carries(%x) streams(%w) {body=outer, bound=5}
  for %n invariants(%x) {body=nothing}
  return %y, %s
}
fn outer(%i: i64, %x: f64[4], %w: f64[4]) -> f64[4], f64 {
  %n: i64 = constant {value=4}
  %z: f64[4] = for %n streams(%w, %x) invariants(%i) {body=inner, bound=4}
  %s: f64 = sum %z {axes=[0]}
  return %z, %s
}
fn inner(%i: i64, %outer: i64, %w: f64, %x: f64) -> f64 {
  %p: bool = lt %i, %outer
  %r: f64 = if %p args(%w, %x) {then=product, else=quotient}
  return %r
}
fn product(%a: f64, %b: f64) -> f64 {
  %c: f64 = mul %a, %b
  return %c
}
fn quotient(%a: f64, %b: f64) -> f64 {
  %c: f64 = div %a, %b
  return %c
}
fn nothing(%i: i64, %x: f64[4]) {
  return
}
// ---- expected
// fn main(%0: i64, %1: f64[4], %2: f64[5,4]) -> f64[4], f64[5] {
//   %3: f64[4], %4: f64[5] = for %0 carries(%1) streams(%2) {body=outer, bound=5}
//   for %0 invariants(%1) {body=nothing}
//   return %3, %4
// }
//
// fn outer(%0: i64, %1: f64[4], %2: f64[4]) -> f64[4], f64 {
//   %3: i64 = constant {value=4}
//   %4: f64[4] = for %3 invariants(%0) streams(%2, %1) {body=inner, bound=4}
//   %5: f64 = sum %4 {axes=[0]}
//   return %4, %5
// }
//
// fn inner(%0: i64, %1: i64, %2: f64, %3: f64) -> f64 {
//   %4: bool = lt %0, %1
//   %5: f64 = if %4 args(%2, %3) {then=product, else=quotient}
//   return %5
// }
//
// fn product(%0: f64, %1: f64) -> f64 {
//   %2: f64 = mul %0, %1
//   return %2
// }
//
// fn quotient(%0: f64, %1: f64) -> f64 {
//   %2: f64 = div %0, %1
//   return %2
// }
//
// fn nothing(%0: i64, %1: f64[4]) {
//   return
// }
