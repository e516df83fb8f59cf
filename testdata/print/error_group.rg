fn main(%0: i64, %1: f64) -> f64 {
  %2: f64 = for %0 carry(%1) {body=main}
  return %2
}
// ---- expected
// error: error_group.rg:2: parse error: expected one of the groups carries, invariants, streams, found `carry`
