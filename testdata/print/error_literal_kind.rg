fn main() -> i64[2] {
  %0: i64[2] = constant {value=i64[2] [1, 2.5]}
  return %0
}
// ---- expected
// error: error_literal_kind.rg:2: parse error: expected an i64, found `2.5`
