// f32 and i32: IEEE single precision, integers that wrap, conversions that saturate, and sums in single precision.
// input: f32[4] [1.0, 16777216.0, -0.1, inf]
// input: i32[4] [2147483647, -2147483648, 7, -7]
// input: f64[4] [3e10, -3e10, nan, 0.1]
fn main(%x: f32[4], %n: i32[4], %w: f64[4]) -> f32[4], f32[4], f32[4], i32[4], i32[4], i32[4], i32[4], f32[4], f32, i32, f64[4], i32[2], i64 {
  %one: f32 = constant {value=f32 1.0}
  %ones: f32[4] = broadcast %one {shape=[4], axes=[]}
  %sum: f32[4] = add %x, %ones
  %exp: f32[4] = exp %x
  %fma: f32[4] = fma %x, %x, %ones
  %i: i32 = constant {value=i32 1}
  %is: i32[4] = broadcast %i {shape=[4], axes=[]}
  %wrapped: i32[4] = add %n, %is
  %three: i32 = constant {value=i32 3}
  %threes: i32[4] = broadcast %three {shape=[4], axes=[]}
  %rest: i32[4] = rem %n, %threes
  %shifted: i32[4] = shl %n, %threes
  %truncated: i32[4] = convert %w {dtype=i32}
  %rounded: f32[4] = convert %w {dtype=f32}
  %finite: f32[3] = slice %x {start=[0], stop=[3], step=[1]}
  %total: f32 = sum %finite {axes=[0]}
  %product: i32 = prod %n {axes=[0]}
  %wide: f64[4] = convert %x {dtype=f64}
  %pair: i32[2] = slice %n {start=[2], stop=[4], step=[1]}
  %sorted: i32[2] = sort %pair {axis=[0]}
  %best: i64 = argmax %n {axis=[0]}
  return %sum, %exp, %fma, %wrapped, %rest, %shifted, %truncated, %rounded, %total, %product, %wide, %sorted, %best
}
// ---- expected
// f32[4] [2.0, 16777216.0, 0.9, inf]
// f32[4] [2.7182817, inf, 0.9048374, inf]
// f32[4] [2.0, 281474980000000.0, 1.01, inf]
// i32[4] [-2147483648, -2147483647, 8, -6]
// i32[4] [1, -2, 1, -1]
// i32[4] [-8, 0, 56, -56]
// i32[4] [2147483647, -2147483648, 0, 0]
// f32[4] [30000000000.0, -30000000000.0, nan, 0.1]
// f32 16777216.0
// i32 -2147483648
// f64[4] [1.0, 16777216.0, -0.10000000149011612, inf]
// i32[2] [-7, 7]
// 0
