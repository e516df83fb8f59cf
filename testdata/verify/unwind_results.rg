fn main(%n: i64, %c: f64, %a: f64) {
  unwind %n carries(%c) adjoints(%a) {body=step, bwd=bwd}
  return
}
fn step(%i: i64, %c: f64) -> f64 {
  return %c
}
fn bwd(%i: i64, %c: f64, %a: f64) -> f64 {
  return %a
}
// ---- expected
// error: unwind_results.rg:2: invalid program: in `main`: `unwind` has groups of 3 arguments, found 3 and 0 results
