fn main(%0: f64) -> f64 {
  %1: f64 = neg %0 @ model.py
  return %1
}
// ---- expected
// error: error_position.rg:2: parse error: expected a file between quotes or `unknown` after `@`, found `model.py`
