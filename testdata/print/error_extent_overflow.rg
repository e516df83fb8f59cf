fn main(%0: f64[99999999999999999999]) {
  return
}
// ---- expected
// error: error_extent_overflow.rg:1: parse error: expected an extent, found `99999999999999999999`
