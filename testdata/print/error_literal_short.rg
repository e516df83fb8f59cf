fn main() -> f64[3] {
  %0: f64[3] = constant {value=f64[3] [1.0, 2.0]}
  return %0
}
// ---- expected
// error: error_literal_short.rg:2: parse error: expected `,` and element 3 of 3, found `]`
