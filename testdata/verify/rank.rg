fn main(%0: f64) -> f64 {
  %1: f64[1,1,1,1,1,1,1,1,1] = reshape %0 {shape=[1,1,1,1,1,1,1,1,1]}
  %2: f64 = sum %1 {axes=[0,1,2,3,4,5,6,7,8]}
  return %2
}
// ---- expected
// error: rank.rg:2: unsupported: %1 in `main`: f64[1,1,1,1,1,1,1,1,1] has 9 axes; at most 8 are supported
