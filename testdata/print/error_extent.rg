fn main(%0: f64[-3]) {
  return
}
// ---- expected
// error: error_extent.rg:1: parse error: expected an extent, found `-3`
