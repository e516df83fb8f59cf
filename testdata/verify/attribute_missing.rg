fn main(%0: f64) -> f64[3] {
  %1: f64[3] = broadcast %0 {shape=[3]}
  return %1
}
// ---- expected
// error: attribute_missing.rg:2: invalid program: %1 in `main`: `broadcast` has the attributes [shape, axes], found [shape]
