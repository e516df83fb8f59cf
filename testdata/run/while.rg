// Doubled until it is at least 10.
// input: 1.5
fn main(%x: f64) -> f64, i64 {
  %ten: f64 = constant {value=10.0}
  %y: f64, %n: i64 = while carries(%x) invariants(%ten) {cond=below, body=step}
  return %y, %n
}
fn below(%x: f64, %t: f64) -> bool {
  %p: bool = lt %x, %t
  return %p
}
fn step(%x: f64, %t: f64) -> f64 {
  %y: f64 = add %x, %x
  return %y
}
// ---- expected
// 12.0
// 3
