fn main(%0: f64[3]) -> f64 {
  %1: f64 = sum %0 {axes=[0], axes=[0]}
  return %1
}
// ---- expected
// error: error_attribute_twice.rg:2: parse error: the attribute `axes` is given twice
