// Linear through an `if`, a `for` and an inner `unwind`; zeros are linear, constants may decide.
fn main(%n: i64, %c: f64[3], %a: f64[3], %r: f64[3]) -> f64[3], f64[3] {
  %x: f64[3], %y: f64[3] = unwind %n carries(%c) adjoints(%a) running(%r) {body=step, bwd=bwd}
  return %x, %y
}
fn step(%i: i64, %c: f64[3]) -> f64[3] {
  %1: f64[3] = sin %c
  return %1
}
fn bwd(%i: i64, %c: f64[3], %a: f64[3], %r: f64[3]) -> f64[3], f64[3] {
  %two: i64 = constant {value=2}
  %p: bool = lt %i, %two
  %b: f64[3] = if %p args(%c, %a) {then=scaled, else=zeros}
  %d: f64[3], %e: f64[3] = for %two carries(%b, %r) invariants(%c, %a) {body=mix}
  %f: f64[3] = unwind %two carries(%c) adjoints(%d) {body=step, bwd=inner}
  %z: f64 = constant {value=0.0}
  %s: f64[1] = slice %f {start=[0], stop=[1], step=[1]}
  %zs: f64[3] = broadcast %z {shape=[3], axes=[]}
  %at: i64 = constant {value=1}
  %u: f64[3] = update %zs, %s, %at {step=[1]}
  %cmp: bool[3] = lt %c, %zs
  %mask: f64[3] = select %cmp, %u, %zs
  return %mask, %e
}

fn scaled(%c: f64[3], %a: f64[3]) -> f64[3] {
  %0: f64[3] = div %a, %c
  %1: f64[3] = neg %0
  return %1
}
fn zeros(%c: f64[3], %a: f64[3]) -> f64[3] {
  %0: f64[3] = constant {value=f64[3] [0.0, -0.0, 0.0]}
  return %0
}
fn mix(%i: i64, %b: f64[3], %r: f64[3], %c: f64[3], %a: f64[3]) -> f64[3], f64[3] {
  %0: f64[3] = mul %c, %a
  %1: f64[3] = sub %b, %0
  %2: f64[3] = add %r, %1
  return %1, %2
}
fn inner(%i: i64, %c: f64[3], %a: f64[3]) -> f64[3] {
  %0: f64[3] = cos %c
  %1: f64[3] = mul %0, %a
  %2: f64[3] = exp %a   // dead: only what reaches a result is judged
  return %1
}
// ---- expected
// ok
