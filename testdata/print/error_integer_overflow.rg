fn main() -> i64 {
  %0: i64 = constant {value=9223372036854775808}
  return %0
}
// ---- expected
// error: error_integer_overflow.rg:2: parse error: expected an i64, found `9223372036854775808`
