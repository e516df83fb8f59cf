// A nest in the manner of a factorisation: counts of inner loops are known at run time only, and some are 0.
fn main(%a: f64[12,12]) -> f64 {
  %n: i64 = constant {value=12}
  %0: f64[12,12] = for %n carries(%a) {body=rows}
  %1: f64[12,12] = mul %0, %0
  %2: f64 = sum %1 {axes=[0, 1]}
  return %2
}
fn rows(%i: i64, %a: f64[12,12]) -> f64[12,12] {
  %0: f64[12,12] = for %i carries(%a) invariants(%i) {body=below}
  %n: i64 = constant {value=12}
  %m: i64 = sub %n, %i
  %1: f64[12,12] = for %m carries(%0) invariants(%i) {body=above}
  return %1
}
fn below(%j: i64, %a: f64[12,12], %i: i64) -> f64[12,12] {
  %x: f64[1,1] = dynamic_slice %a, %i, %j {sizes=[1, 1], step=[1, 1]}
  %y: f64[1,1] = dynamic_slice %a, %j, %j {sizes=[1, 1], step=[1, 1]}
  %0: f64[1,1] = sin %x
  %1: f64[1,1] = div %0, %y
  %2: f64[12,12] = update %a, %1, %i, %j {step=[1, 1]}
  return %2
}
fn above(%k: i64, %a: f64[12,12], %i: i64) -> f64[12,12] {
  %j: i64 = add %k, %i
  %zero: f64 = constant {value=0.0}
  %0: f64 = for %i carries(%zero) invariants(%a, %i, %j) {body=product}
  %1: f64[1,1] = reshape %0 {shape=[1, 1]}
  %2: f64[12,12] = add_at %a, %1, %i, %j {step=[1, 1]}
  return %2
}
fn product(%m: i64, %s: f64, %a: f64[12,12], %i: i64, %j: i64) -> f64 {
  %x: f64[1,1] = dynamic_slice %a, %i, %m {sizes=[1, 1], step=[1, 1]}
  %y: f64[1,1] = dynamic_slice %a, %m, %j {sizes=[1, 1], step=[1, 1]}
  %0: f64[1,1] = mul %x, %y
  %1: f64[1,1] = cos %0
  %2: f64 = reshape %1 {shape=[]}
  %3: f64 = fma %2, %2, %s
  return %3
}
