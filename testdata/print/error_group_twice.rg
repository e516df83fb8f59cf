fn main(%0: i64, %1: f64) -> f64 {
  %2: f64 = for %0 carries(%1) carries(%1) {body=main}
  return %2
}
// ---- expected
// error: error_group_twice.rg:2: parse error: the group `carries` is given twice
