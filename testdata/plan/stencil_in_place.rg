// A[i+1] = sin(A[i]) A[i+1], in place: a step keeps two elements, not the array.
// strategy: auto
// strategy: keep_all
// strategy: revolve
fn main(%A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=8}
  %1: f64[9] = for %0 carries(%A) {body=step}
  return %1
}
fn step(%i: i64, %A: f64[9]) -> f64[9] {
  %0: i64 = constant {value=1}
  %1: i64 = add %i, %0
  %2: f64[1] = dynamic_slice %A, %i {sizes=[1], step=[1]}
  %3: f64[1] = dynamic_slice %A, %1 {sizes=[1], step=[1]}
  %4: f64[1] = sin %2
  %5: f64[1] = mul %4, %3
  %6: f64[9] = update %A, %5, %1 {step=[1]}
  return %6
}
// ---- expected
// plan by `auto`: peak 520 bytes
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at stencil_in_place.rg:7, 192 bytes
//   at the peak: arrays and controllers, 240 bytes
//   loop at stencil_in_place.rg:7: 8 steps: 8 records of 24 bytes, each step run once (keep all)
//     a state 72 bytes, a record 24 bytes, pool 192 bytes
//     8 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[1] (dynamic_slice at stencil_in_place.rg:13, 8 bytes): computed again from what is kept: no slower than to write and read 8 bytes a step; read at stencil_in_place.rg:15
//     f64[1] (dynamic_slice at stencil_in_place.rg:14, 8 bytes): kept: steps are not reversed without it; read at stencil_in_place.rg:16
//     f64[1] (sin at stencil_in_place.rg:15, 8 bytes): kept: to compute it again takes 2.8 ns a step; read at stencil_in_place.rg:16
//     f64[1] (cos at stencil_in_place.rg:15, 8 bytes): kept: to compute it again takes 2.8 ns a step; read at stencil_in_place.rg:15
//   actions: tape 0..8 at 0 by 0, turn, reverse 0..8 at 0 by 0, done
//
// plan by `keep_all`: peak 520 bytes
// no budget
// work 1.000 times the least without a budget, 0.0 % above the bound for this memory
//   at the peak: states and records of the loop at stencil_in_place.rg:7, 192 bytes
//   at the peak: arrays and controllers, 240 bytes
//   loop at stencil_in_place.rg:7: 8 steps: 8 records of 24 bytes, each step run once (keep all)
//     a state 72 bytes, a record 24 bytes, pool 192 bytes
//     8 forward steps (1.00 per step, the program's own loop included), 0 states held
//     f64[1] (dynamic_slice at stencil_in_place.rg:13, 8 bytes): computed again from what is kept: no slower than to write and read 8 bytes a step; read at stencil_in_place.rg:15
//     f64[1] (dynamic_slice at stencil_in_place.rg:14, 8 bytes): kept: steps are not reversed without it; read at stencil_in_place.rg:16
//     f64[1] (sin at stencil_in_place.rg:15, 8 bytes): kept: to compute it again takes 2.8 ns a step; read at stencil_in_place.rg:16
//     f64[1] (cos at stencil_in_place.rg:15, 8 bytes): kept: to compute it again takes 2.8 ns a step; read at stencil_in_place.rg:15
//   actions: tape 0..8 at 0 by 0, turn, reverse 0..8 at 0 by 0, done
//
// plan by `revolve`: peak 1.03 kB (1032 bytes)
// no budget
// work 2.655 times the least without a budget, 165.5 % above the bound for this memory
//   at the peak: states and records of the loop at stencil_in_place.rg:7, 504 bytes
//   at the peak: arrays and controllers, 368 bytes
//   loop at stencil_in_place.rg:7: 8 steps: 7 snapshots of 72 bytes, each step run at most 2 times (revolve with 8 slots)
//     a state 72 bytes, no records, pool 504 bytes
//     16 forward steps (2.00 per step, the program's own loop included), 7 states held
//     f64[1] (dynamic_slice at stencil_in_place.rg:13, 8 bytes): computed again from the state: nothing is recorded; of every step it is 64 bytes; read at stencil_in_place.rg:15
//     f64[1] (dynamic_slice at stencil_in_place.rg:14, 8 bytes): computed again from the state: nothing is recorded; of every step it is 64 bytes; read at stencil_in_place.rg:16
//     f64[1] (sin at stencil_in_place.rg:15, 8 bytes): computed again from the state: nothing is recorded; of every step it is 64 bytes; read at stencil_in_place.rg:16
//     f64[1] (cos at stencil_in_place.rg:15, 8 bytes): computed again from the state: nothing is recorded; of every step it is 64 bytes; read at stencil_in_place.rg:15
//   actions: advance 0..1, snapshot x1 at 0, advance 1..2, snapshot x2 at 72, advance 2..3, snapshot x3 at 144, advance 3..4, snapshot x4 at 216, advance 4..5, snapshot x5 at 288, advance 5..6, snapshot x6 at 360, advance 6..7, snapshot x7 at 432, advance 7..8, turn, restore x7 from 432, youturn 7, restore x6 from 360, youturn 6, restore x5 from 288, youturn 5, restore x4 from 216, youturn 4, restore x3 from 144, youturn 3, restore x2 from 72, youturn 2, restore x1 from 0, youturn 1, restore x0 from the start, youturn 0, done
//
