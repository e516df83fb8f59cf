fn main(%0: f64, %1: i64) -> f64 {
  %2: f64 = add %0, %1
  return %2
}
// ---- expected
// error: dtypes.rg:2: type error: %2 in `main`: `add` needs equal element types, found f64 and i64
