fn main(%0: i64) {
  for %0 {body=step}
  return
}
// ---- expected
// error: error_no_function.rg:2: parse error: there is no function `step`
