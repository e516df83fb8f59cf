fn main(%0: f64[3]) -> f32[3] {
  %1: f32[3] = convert %0 {dtype=f32}
  return %1
}
// ---- expected
// error: f32.rg:2: unsupported: %1 in `main`: f32 is not supported yet: use f64
