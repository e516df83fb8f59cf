// A network of one matrix, unrolled: under a budget layers are computed again where they are read.
// strategy: auto
// strategy: keep_all
// budget: 1600
// budget: 2500
// budget: 3500
fn main(%x: f64[4, 8], %w: f64[4, 4]) -> f64[4, 8] {
  %0: f64[4, 8] = dot %w, %x {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %1: f64[4, 8] = tanh %0
  %2: f64[4, 8] = dot %w, %1 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %3: f64[4, 8] = tanh %2
  %4: f64[4, 8] = dot %w, %3 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %5: f64[4, 8] = tanh %4
  %6: f64[4, 8] = dot %w, %5 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %7: f64[4, 8] = tanh %6
  %8: f64[4, 8] = dot %w, %7 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %9: f64[4, 8] = tanh %8
  %10: f64[4, 8] = dot %w, %9 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %11: f64[4, 8] = tanh %10
  %12: f64[4, 8] = dot %w, %11 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %13: f64[4, 8] = tanh %12
  %14: f64[4, 8] = dot %w, %13 {lhs_contract=[1], rhs_contract=[0], lhs_batch=[], rhs_batch=[]}
  %15: f64[4, 8] = tanh %14
  return %15
}
