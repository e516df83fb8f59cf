fn main(%0: f64[4294967296,4294967296]) {
  return
}
// ---- expected
// error: error_too_big.rg:1: parse error: f64[4294967296,4294967296] has more elements than memory can hold
