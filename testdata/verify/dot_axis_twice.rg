fn main(%0: f64[2,2], %1: f64[2,2]) -> f64[2,2] {
  %2: f64[2,2] = dot %0, %1 {lhs_contract=[0, 0], rhs_contract=[0, 0], lhs_batch=[], rhs_batch=[]}
  return %2
}
// ---- expected
// error: dot_axis_twice.rg:2: shape error: %2 in `main`: `dot` cannot contract axes [0, 0] of f64[2,2] with axes [0, 0] of f64[2,2]
