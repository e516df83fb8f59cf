// Every row that makes, moves, indexes or reduces arrays; attributes in any order, spaces as one likes.
fn main(%x: f64[2,3], %i: i64) -> f64 {
  %k: i64[4,2] = iota {axis=[1], type=i64[4,2]}
  %a: f64[2,4,3]=broadcast %x{axes=[0,2],shape=[2,4,3]}
  %b: f64[24] = reshape %a {shape=[24]}
  %c: f64[3,2] = transpose %x {axes=[1, 0]}
  %d: f64[5] = slice %b {start=[2], stop=[12], step=[2]}
  %e: f64[2,1] = dynamic_slice %x, %i, %i {sizes=[2,1], step=[1,1]}
  %f: f64[2,3] = update %x, %e, %i, %i {step=[1,1]}
  %g: f64[2,3] = add_at %f, %e, %i, %i {step=[1,1]}
  %h: f64[2,2] = dot %g, %c {
    lhs_contract=[1], rhs_contract=[0],   // over several lines
    lhs_batch=[], rhs_batch=[]
  }
  %s: f64 = sum %h {axes=[0, 1]}
  return %s
}
// ---- expected
// fn main(%0: f64[2,3], %1: i64) -> f64 {
//   %2: i64[4,2] = iota {type=i64[4,2], axis=[1]}
//   %3: f64[2,4,3] = broadcast %0 {shape=[2, 4, 3], axes=[0, 2]}
//   %4: f64[24] = reshape %3 {shape=[24]}
//   %5: f64[3,2] = transpose %0 {axes=[1, 0]}
//   %6: f64[5] = slice %4 {start=[2], stop=[12], step=[2]}
//   %7: f64[2,1] = dynamic_slice %0, %1, %1 {sizes=[2, 1], step=[1, 1]}
//   %8: f64[2,3] = update %0, %7, %1, %1 {step=[1, 1]}
//   %9: f64[2,3] = add_at %8, %7, %1, %1 {step=[1, 1]}
//   %10: f64[2,2] = dot %9, %5 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
//   %11: f64 = sum %10 {axes=[0, 1]}
//   return %11
// }
