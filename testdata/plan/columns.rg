// Two loops over levels, the second against the first: columns are alike, so that both and their adjoints are one loop over tiles of them.
// strategy: auto
fn main(%a: f64[4,40,10], %x: f64[4,40]) -> f64 {
  %0: i64 = constant {value=9}
  %1: f64[4,40,10] = for %0 carries(%a) {body=down}
  %2: f64[4,40] = for %0 carries(%x) invariants(%1) {body=up}
  %3: f64 = sum %2 {axes=[0, 1]}
  return %3
}
fn down(%i: i64, %a: f64[4,40,10]) -> f64[4,40,10] {
  %zero: i64 = constant {value=0}
  %one: i64 = constant {value=1}
  %next: i64 = add %i, %one
  %0: f64[4,40,1] = dynamic_slice %a, %zero, %zero, %i {sizes=[4, 40, 1], step=[1, 1, 1]}
  %1: f64[4,40,1] = dynamic_slice %a, %zero, %zero, %next {sizes=[4, 40, 1], step=[1, 1, 1]}
  %2: f64[4,40,1] = sin %0
  %3: f64[4,40,1] = mul %2, %1
  %4: f64[4,40,10] = update %a, %3, %zero, %zero, %next {step=[1, 1, 1]}
  return %4
}
fn up(%i: i64, %x: f64[4,40], %a: f64[4,40,10]) -> f64[4,40] {
  %zero: i64 = constant {value=0}
  %last: i64 = constant {value=9}
  %level: i64 = sub %last, %i
  %0: f64[4,40,1] = dynamic_slice %a, %zero, %zero, %level {sizes=[4, 40, 1], step=[1, 1, 1]}
  %1: f64[4,40] = reshape %0 {shape=[4, 40]}
  %2: f64[4,40] = mul %x, %1
  %3: f64[4,40] = sin %2
  return %3
}
// ---- expected
// plan by `auto`: peak 53.34 kB (53336 bytes)
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at columns.rg:6, 5.76 kB
//   at the peak: states and records of the loop at columns.rg:5, 17.28 kB
//   at the peak: arrays and controllers, 30.26 kB
//   a loop that treats elements alike is interchanged: tiles of 2 of them
//     loop at columns.rg:6: 9 steps: 9 records of 640 bytes, each step run once (keep all)
//       a state 640 bytes, a record 640 bytes, pool 5.76 kB (5760 bytes)
//       9 forward steps (1.00 per step, the program's own loop included), 0 states held
//       f64[2,40] (state, 640 bytes): kept: steps are not reversed without it; read at columns.rg:27
//       f64[2,40] (cos at columns.rg:28, 640 bytes): computed again from what is kept: no slower than to write and read 640 bytes a step; read at columns.rg:28
//     loop at columns.rg:5: 9 steps: 9 records of 1.92 kB, each step run once (keep all)
//       a state 6.4 kB, a record 1.92 kB, pool 17.28 kB (17280 bytes)
//       9 forward steps (1.00 per step, the program's own loop included), 0 states held
//       f64[2,40,1] (dynamic_slice at columns.rg:14, 640 bytes): computed again from what is kept: no slower than to write and read 640 bytes a step; read at columns.rg:16
//       f64[2,40,1] (dynamic_slice at columns.rg:15, 640 bytes): kept: steps are not reversed without it; read at columns.rg:17
//       f64[2,40,1] (sin at columns.rg:16, 640 bytes): kept: to compute it again takes 102.2 ns a step; read at columns.rg:17
//       f64[2,40,1] (cos at columns.rg:16, 640 bytes): kept: to compute it again takes 102.2 ns a step; read at columns.rg:16
//   actions: tape 0..9 at 0 by 1, turn, reverse 0..9 at 0 by 1, done
//   actions: tape 0..9 at 0 by 0, turn, reverse 0..9 at 0 by 0, done
//
