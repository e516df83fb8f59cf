// A product that is added or subtracted becomes part of an fma where nothing else sees it: not if both terms are products, through views
// and signs too, and not if it has another use. Integers and products that are repeated first stay.
fn main(%x: f64[3], %y: f64[3], %z: f64[3], %s: f64, %n: i64[3]) -> f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], i64[3] {
  %a: f64[3] = mul %x, %y
  %plus: f64[3] = add %a, %z
  %b: f64[3] = mul %x, %z
  %minus: f64[3] = sub %b, %z
  %c: f64[3] = mul %y, %y
  %from: f64[3] = sub %z, %c
  %d: f64[3] = mul %y, %z
  %negated: f64[3] = neg %d
  %signed: f64[3] = add %x, %negated
  %e: f64[3] = mul %z, %z
  %f: f64[3] = mul %x, %x
  %g: f64[3] = reverse %f {axes=[0]}
  %both: f64[3] = sub %e, %g
  %k: f64[3] = mul %z, %x
  %seen: f64[3] = add %k, %y
  %again: f64[3] = sin %k
  %square: f64 = mul %s, %s
  %repeated: f64[3] = broadcast %square {shape=[3], axes=[]}
  %sum: f64[3] = add %repeated, %z
  %m: i64[3] = mul %n, %n
  %integers: i64[3] = add %m, %n
  return %plus, %minus, %from, %signed, %both, %seen, %again, %sum, %integers
}
// ---- expected
// fn main(%0: f64[3], %1: f64[3], %2: f64[3], %3: f64, %4: i64[3]) -> f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], i64[3] {
//   %5: f64[3] = fma %0, %1, %2
//   %6: f64[3] = neg %2
//   %7: f64[3] = fma %0, %2, %6
//   %8: f64[3] = neg %1
//   %9: f64[3] = fma %1, %8, %2
//   %10: f64[3] = fma %1, %6, %0
//   %11: f64[3] = mul %2, %2 {exact}
//   %12: f64[3] = mul %0, %0 {exact}
//   %13: f64[3] = reverse %12 {axes=[0]}
//   %14: f64[3] = sub %11, %13 {exact}
//   %15: f64[3] = mul %2, %0 {exact}
//   %16: f64[3] = add %15, %1 {exact}
//   %17: f64[3] = sin %15
//   %18: f64 = mul %3, %3 {exact}
//   %19: f64[3] = broadcast %18 {shape=[3], axes=[]}
//   %20: f64[3] = add %19, %2 {exact}
//   %21: i64[3] = mul %4, %4
//   %22: i64[3] = add %21, %4
//   return %5, %7, %9, %10, %14, %16, %17, %20, %22
// }
