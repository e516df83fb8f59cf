fn main() {
  return
}
fn main() {
  return
}
// ---- expected
// error: error_function_twice.rg:4: parse error: function `main` is defined twice
