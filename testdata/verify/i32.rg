fn main(%0: i32) {
  return
}
// ---- expected
// error: unsupported: %0 in `main`: i32 is not supported yet: use i64
