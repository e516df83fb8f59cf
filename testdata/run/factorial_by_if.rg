// input: i64 6
fn main(%n: i64) -> i64 {
  %one: i64 = constant {value=1}
  %0: i64 = for %n carries(%one) invariants(%one) {body=step}
  return %0
}
fn step(%i: i64, %c: i64, %one: i64) -> i64 {
  %p: bool = lt %i, %one
  %0: i64 = if %p args(%c, %i) {then=first, else=product}
  return %0
}
fn first(%c: i64, %i: i64) -> i64 {
  return %c
}
fn product(%c: i64, %i: i64) -> i64 {
  %one: i64 = constant {value=1}
  %k: i64 = add %i, %one
  %0: i64 = mul %c, %k
  return %0
}
// ---- expected
// 720
