fn main() -> f64 {
  %0: f64 = constant {value=1e400}
  return %0
}
// ---- expected
// error: error_literal_overflow.rg:2: parse error: expected a number that is finite in its type, or `inf`, found `1e400`
