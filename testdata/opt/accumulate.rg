// a[i] = a[i] + x is a[i] += x, whatever shapes lie between; a difference adds the negative; another place or another array stays an update.
fn main(%a: f64[5], %i: i64, %j: i64, %x: f64) -> f64[5], f64[5], f64[5], f64[5] {
  %0: f64[1] = dynamic_slice %a, %i {sizes=[1], step=[1]}
  %1: f64 = reshape %0 {shape=[]}
  %2: f64 = add %1, %x
  %3: f64[1] = reshape %2 {shape=[1]}
  %4: f64[5] = update %a, %3, %i {step=[1]}
  %5: f64 = sub %1, %x
  %6: f64[1] = reshape %5 {shape=[1]}
  %7: f64[5] = update %a, %6, %i {step=[1]}
  %8: f64[5] = update %a, %3, %j {step=[1]}
  %9: f64[5] = update %4, %3, %i {step=[1]}
  return %4, %7, %8, %9
}
// ---- expected
// fn main(%0: f64[5], %1: i64, %2: i64, %3: f64) -> f64[5], f64[5], f64[5], f64[5] {
//   %4: f64[1] = dynamic_slice %0, %1 {sizes=[1], step=[1]}
//   %5: f64 = reshape %4 {shape=[]}
//   %6: f64 = add %5, %3 {exact}
//   %7: f64[1] = reshape %6 {shape=[1]}
//   %8: f64[1] = reshape %3 {shape=[1]}
//   %9: f64[5] = add_at %0, %8, %1 {step=[1]}
//   %10: f64 = neg %3
//   %11: f64[1] = reshape %10 {shape=[1]}
//   %12: f64[5] = add_at %0, %11, %1 {step=[1]}
//   %13: f64[5] = update %0, %7, %2 {step=[1]}
//   %14: f64[5] = update %9, %7, %1 {step=[1]}
//   return %9, %12, %13, %14
// }
