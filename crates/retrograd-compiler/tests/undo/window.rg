// A loop of 40 steps over an array of 60, a number and an array of integers; a step replaces one element.
fn main(%a: f64[60], %s: f64, %w: f64[60]) -> f64 {
  %n: i64 = constant {value=40}
  %k: i64[60] = iota {type=i64[60], axis=[0]}
  %0: f64[60], %1: f64, %2: i64[60] = for %n carries(%a, %s, %k) invariants(%w) {body=step}
  %3: f64[60] = mul %0, %0
  %4: f64 = sum %3 {axes=[0]}
  %5: f64 = mul %4, %1
  return %5
}
fn step(%i: i64, %a: f64[60], %s: f64, %k: i64[60], %w: f64[60]) -> f64[60], f64, i64[60] {
  %one: i64 = constant {value=1}
  %two: i64 = constant {value=2}
  %j: i64 = add %i, %one
  %x: f64[3] = dynamic_slice %a, %i {sizes=[3], step=[1]}
  %y: f64[1] = dynamic_slice %w, %j {sizes=[1], step=[1]}
  %z: f64[3] = mul %x, %x
  %p: f64 = sum %z {axes=[0]}
  %q: f64 = sin %p
  %v: f64[1] = reshape %q {shape=[1]}
  %u: f64[1] = mul %v, %y
  %b: f64[60] = update %a, %u, %j {step=[1]}
  return %b, %s, %k
}
