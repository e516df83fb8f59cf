fn main(%0: f64) -> f64 {
  %1: f64 = add %0
  return %1
}
// ---- expected
// error: arity.rg:2: invalid program: %1 in `main`: `add` takes 2 arguments, found 1
