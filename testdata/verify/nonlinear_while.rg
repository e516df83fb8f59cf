// A cotangent decides how often the backward step's own loop runs.
fn main(%n: i64, %c: f64, %a: f64) -> f64 {
  %0: f64 = unwind %n carries(%c) adjoints(%a) {body=step, bwd=back}
  return %0
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn back(%i: i64, %c: f64, %a: f64) -> f64 {
  %0: f64, %1: i64 = while carries(%a) {cond=below, body=twice}
  return %0
}
fn below(%x: f64) -> bool {
  %0: f64 = constant {value=1.0}
  %p: bool = lt %x, %0
  return %p
}
fn twice(%x: f64) -> f64 {
  %y: f64 = add %x, %x
  return %y
}
// ---- expected
// error: nonlinear_while.rg:10: invalid program: `%3 = while` in `back` is not linear in the cotangents: a cotangent decides what runs
