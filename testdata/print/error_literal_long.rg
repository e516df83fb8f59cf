fn main() -> f64[1] {
  %0: f64[1] = constant {value=f64[1] [1.0, 2.0]}
  return %0
}
// ---- expected
// error: error_literal_long.rg:2: parse error: expected `]` after 1 elements, found `,`
