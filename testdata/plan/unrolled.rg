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
// ---- expected
// auto: over budget: the budget is 1.6 kB (1600 bytes); the smallest that this strategy can work with is 1.67 kB (1672 bytes), with 2.2 times the work of its plan without a budget
//
// plan by `auto`: peak 2.31 kB (2312 bytes)
// budget 2.5 kB (2500 bytes)
// work 1.169 times the least without a budget, 16.9 % above the bound for this memory
//   at the peak: arrays and controllers, 2.31 kB
//   f64[4,8] (tanh at unrolled.rg:9, 256 bytes): computed again: where it is read, so that less is held; read at unrolled.rg:10, unrolled.rg:9
//   f64[4,8] (tanh at unrolled.rg:11, 256 bytes): computed again: where it is read, so that less is held; read at unrolled.rg:12, unrolled.rg:11
//   f64[4,8] (tanh at unrolled.rg:13, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:14, unrolled.rg:13
//   f64[4,8] (tanh at unrolled.rg:15, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:16, unrolled.rg:15
//   f64[4,8] (tanh at unrolled.rg:17, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:18, unrolled.rg:17
//   f64[4,8] (tanh at unrolled.rg:19, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:20, unrolled.rg:19
//   f64[4,4] (dot at unrolled.rg:22, 128 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:20
//   f64[4,8] (dot at unrolled.rg:22, 256 bytes): computed again 2 times: where it is read, so that less is held; read at unrolled.rg:21
//   f64[4,8] (fma at unrolled.rg:21, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:21
//
// plan by `auto`: peak 2.31 kB (2312 bytes)
// budget 3.5 kB (3500 bytes)
// work 1.169 times the least without a budget, 16.9 % above the bound for this memory
//   at the peak: arrays and controllers, 2.31 kB
//   f64[4,8] (tanh at unrolled.rg:9, 256 bytes): computed again: where it is read, so that less is held; read at unrolled.rg:10, unrolled.rg:9
//   f64[4,8] (tanh at unrolled.rg:11, 256 bytes): computed again: where it is read, so that less is held; read at unrolled.rg:12, unrolled.rg:11
//   f64[4,8] (tanh at unrolled.rg:13, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:14, unrolled.rg:13
//   f64[4,8] (tanh at unrolled.rg:15, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:16, unrolled.rg:15
//   f64[4,8] (tanh at unrolled.rg:17, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:18, unrolled.rg:17
//   f64[4,8] (tanh at unrolled.rg:19, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:20, unrolled.rg:19
//   f64[4,4] (dot at unrolled.rg:22, 128 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:20
//   f64[4,8] (dot at unrolled.rg:22, 256 bytes): computed again 2 times: where it is read, so that less is held; read at unrolled.rg:21
//   f64[4,8] (fma at unrolled.rg:21, 256 bytes): kept: others are cheaper to compute again for their bytes; read at unrolled.rg:21
//
// keep_all: over budget: the budget is 1.6 kB (1600 bytes); the smallest that this strategy can work with is 4.22 kB (4224 bytes), with 1.0 times the work of its plan without a budget
//
// keep_all: over budget: the budget is 2.5 kB (2500 bytes); the smallest that this strategy can work with is 4.22 kB (4224 bytes), with 1.0 times the work of its plan without a budget
//
// keep_all: over budget: the budget is 3.5 kB (3500 bytes); the smallest that this strategy can work with is 4.22 kB (4224 bytes), with 1.0 times the work of its plan without a budget
//
