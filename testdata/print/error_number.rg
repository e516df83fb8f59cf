fn main() -> f64 {
  %0: f64 = constant {value=1.2.3}
  return %0
}
// ---- expected
// error: error_number.rg:2: parse error: expected a number, found `1.2.3`
