fn main() -> f64 {
  %0: f64 = constant {value=f64[1,1,1,1,1,1,1,1,1] 1.0}
  return %0
}
// ---- expected
// error: error_literal_rank.rg:2: parse error: a literal has at most 8 axes, found f64[1,1,1,1,1,1,1,1,1]
