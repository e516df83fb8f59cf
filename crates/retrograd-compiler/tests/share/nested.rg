// Steps of a stencil with a cubic term, twelve times, within ten steps that begin with a sine.
fn main(%x: f64[24,24], %w: f64[24,24]) -> f64 {
  %n: i64 = constant {value=10}
  %y: f64[24,24] = for %n carries(%x) invariants(%w) {body=outer}
  %z: f64[24,24] = mul %y, %y
  %s: f64 = sum %z {axes=[0, 1]}
  return %s
}

fn outer(%i: i64, %x: f64[24,24], %w: f64[24,24]) -> f64[24,24] {
  %a: f64[24,24] = mul %w, %x
  %b: f64[24,24] = sin %a
  %c: f64[24,24] = add %x, %b
  %n: i64 = constant {value=12}
  %d: f64[24,24] = for %n carries(%c) {body=inner}
  return %d
}

fn inner(%i: i64, %x: f64[24,24]) -> f64[24,24] {
  %l: f64[22,22] = slice %x {start=[1, 0], stop=[23, 22], step=[1, 1]}
  %r: f64[22,22] = slice %x {start=[1, 2], stop=[23, 24], step=[1, 1]}
  %m: f64[22,22] = slice %x {start=[1, 1], stop=[23, 23], step=[1, 1]}
  %a: f64[22,22] = add %l, %r
  %b: f64[22,22] = sub %a, %m
  %q: f64 = constant {value=0.1}
  %k: f64[22,22] = broadcast %q {shape=[22, 22], axes=[]}
  %c: f64[22,22] = mul %k, %b
  %e: f64[22,22] = mul %m, %m
  %f: f64[22,22] = mul %e, %m
  %g: f64[22,22] = mul %k, %f
  %h: f64[22,22] = sub %m, %g
  %o: f64[22,22] = add %h, %c
  %one: i64 = constant {value=1}
  %u: f64[24,24] = update %x, %o, %one, %one {step=[1, 1]}
  return %u
}
