fn main(%0: f64 %1: f64) {
  return
}
// ---- expected
// error: error_comma.rg:1: parse error: expected `,` or `)`, found `%1`
