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
// fn main(%0: f64[3], %1: f64[3], %2: f64[3], %3: f64, %4: i64[3]) -> f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], i64[3] {
//   %5: f64[3] = mul %0, %1 {exact}
//   %6: f64[3] = add %5, %2 {exact}
//   %7: f64[3] = sub %5, %2 {exact}
//   %8: f64[3] = sub %2, %5 {exact}
//   %9: f64[3] = mul %1, %2 {exact}
//   %10: f64[3] = add %5, %9 {exact}
//   %11: f64[3] = neg %9
//   %12: f64[3] = add %0, %11 {exact}
//   %13: f64 = mul %3, %3 {exact}
//   %14: f64[3] = broadcast %13 {shape=[3], axes=[]}
//   %15: f64[3] = add %14, %2 {exact}
//   %16: f64 = constant {value=-2.0}
//   %17: f64[3] = broadcast %16 {shape=[3], axes=[]}
//   %18: f64[3] = fma %17, %1, %2
//   %19: i64[3] = mul %4, %4
//   %20: i64[3] = add %19, %4
//   return %6, %7, %8, %10, %12, %15, %18, %20
// }
