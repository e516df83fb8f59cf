// Cotangents have the type of what they belong to; a conversion transposes to a conversion.
fn main(%x: f32[3], %w: f64[3], %n: i32) -> f64 {
  %y: f32[3] = tanh %x
  %s: f32 = convert %n {dtype=f32}
  %ss: f32[3] = broadcast %s {shape=[3], axes=[]}
  %z: f32[3] = mul %y, %ss
  %wide: f64[3] = convert %z {dtype=f64}
  %p: f64[3] = mul %wide, %w
  %total: f64 = sum %p {axes=[0]}
  return %total
}
// ---- expected
// fn main_vjp(%0: f32[3], %1: f64[3], %2: i32, %3: f64) -> f64, f32[3], f64[3] {
//   %4: f32[3] = tanh %0
//   %5: f32 = convert %2 {dtype=f32}
//   %6: f32[3] = broadcast %5 {shape=[3], axes=[]}
//   %7: f32[3] = mul %4, %6
//   %8: f64[3] = convert %7 {dtype=f64}
//   %9: f64[3] = mul %8, %1
//   %10: f64 = sum %9 {axes=[0]}
//   %11: f64[3] = broadcast %3 {shape=[3], axes=[]}
//   %12: f64[3] = mul %1, %11
//   %13: f64[3] = mul %8, %11
//   %14: f32[3] = convert %12 {dtype=f32}
//   %15: f32[3] = mul %6, %14
//   %16: f32[3] = mul %4, %4
//   %17: f32 = constant {value=f32 1.0}
//   %18: f32[3] = broadcast %17 {shape=[3], axes=[]}
//   %19: f32[3] = sub %18, %16
//   %20: f32[3] = mul %19, %15
//   return %10, %20, %13
// }
