// Every elementwise row.
fn main(%x: f64[3], %y: f64[3], %p: bool[3], %k: i64[3]) -> f64[3], bool[3], i64[3] {
  %a: f64[3] = add %x, %y
  %b: f64[3] = sub %a, %y
  %c: f64[3] = mul %b, %x
  %d: f64[3] = div %c, %y
  %e: f64[3] = neg %d
  %f: f64[3] = sqrt %e
  %g: f64[3] = exp %f
  %h: f64[3] = log %g
  %i: f64[3] = sin %h
  %j: f64[3] = cos %i
  %l: f64[3] = tanh %j
  %m: bool[3] = lt %x, %y
  %n: bool[3] = le %x, %y
  %o: bool[3] = gt %x, %y
  %q: bool[3] = ge %x, %y
  %r: bool[3] = eq %k, %k
  %s: bool[3] = ne %p, %m
  %t: bool[3] = and %m, %n
  %u: bool[3] = or %o, %q
  %v: bool[3] = not %r
  %w: f64[3] = select %s, %l, %x
  %z: i64[3] = convert %w {dtype=i64}
  return %w, %v, %z
}
// ---- expected
// fn main(%0: f64[3], %1: f64[3], %2: bool[3], %3: i64[3]) -> f64[3], bool[3], i64[3] {
//   %4: f64[3] = add %0, %1
//   %5: f64[3] = sub %4, %1
//   %6: f64[3] = mul %5, %0
//   %7: f64[3] = div %6, %1
//   %8: f64[3] = neg %7
//   %9: f64[3] = sqrt %8
//   %10: f64[3] = exp %9
//   %11: f64[3] = log %10
//   %12: f64[3] = sin %11
//   %13: f64[3] = cos %12
//   %14: f64[3] = tanh %13
//   %15: bool[3] = lt %0, %1
//   %16: bool[3] = le %0, %1
//   %17: bool[3] = gt %0, %1
//   %18: bool[3] = ge %0, %1
//   %19: bool[3] = eq %3, %3
//   %20: bool[3] = ne %2, %15
//   %21: bool[3] = and %15, %16
//   %22: bool[3] = or %17, %18
//   %23: bool[3] = not %19
//   %24: f64[3] = select %20, %14, %0
//   %25: i64[3] = convert %24 {dtype=i64}
//   return %24, %23, %25
// }
