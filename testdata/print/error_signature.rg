fn main(%0: f64) -> f64[3], f64 {
  return %0
}
// ---- expected
// error: error_signature.rg:2: parse error: `main` says that it returns (f64[3], f64), found (f64)
