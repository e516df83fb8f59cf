fn main(%0: i64) {
  for %0 {bound=3}
  return
}
// ---- expected
// error: error_no_body.rg:2: parse error: expected `body=` and the name of a function before `}`
