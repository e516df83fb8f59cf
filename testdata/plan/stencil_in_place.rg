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
// plan by `auto`: peak 448 bytes
// no budget
//   loop at stencil_in_place.rg:7: 8 steps, keep all
//     state 72 bytes a snapshot, residuals 24 bytes a step
//     0 snapshots, 8 tape rows, 8 forward steps (1.00 per step, the program's own loop included)
//     residual f64[1] (dynamic_slice at stencil_in_place.rg:14, 8 bytes): kept
//     residual f64[1] (sin at stencil_in_place.rg:15, 8 bytes): kept
//     residual f64[1] (cos at stencil_in_place.rg:15, 8 bytes): kept
//   actions: tape 0..8 at 0, turn, reverse 0..8 at 0, done
//
// plan by `keep_all`: peak 448 bytes
// no budget
//   loop at stencil_in_place.rg:7: 8 steps, keep all
//     state 72 bytes a snapshot, residuals 24 bytes a step
//     0 snapshots, 8 tape rows, 8 forward steps (1.00 per step, the program's own loop included)
//     residual f64[1] (dynamic_slice at stencil_in_place.rg:14, 8 bytes): kept
//     residual f64[1] (sin at stencil_in_place.rg:15, 8 bytes): kept
//     residual f64[1] (cos at stencil_in_place.rg:15, 8 bytes): kept
//   actions: tape 0..8 at 0, turn, reverse 0..8 at 0, done
//
// plan by `revolve`: peak 968 bytes
// no budget
//   loop at stencil_in_place.rg:7: 8 steps, revolve with 8 slots
//     state 72 bytes a snapshot, residuals 24 bytes a step
//     7 snapshots, 0 tape rows, 16 forward steps (2.00 per step, the program's own loop included)
//     residual f64[1] (dynamic_slice at stencil_in_place.rg:14, 8 bytes): recomputed from the state
//     residual f64[1] (sin at stencil_in_place.rg:15, 8 bytes): recomputed from the state
//     residual f64[1] (cos at stencil_in_place.rg:15, 8 bytes): recomputed from the state
//   actions: advance 0..1, snapshot x1 in 1, advance 1..2, snapshot x2 in 2, advance 2..3, snapshot x3 in 3, advance 3..4, snapshot x4 in 4, advance 4..5, snapshot x5 in 5, advance 5..6, snapshot x6 in 6, advance 6..7, snapshot x7 in 7, advance 7..8, turn, restore x7 from 7, turnback 7, restore x6 from 6, turnback 6, restore x5 from 5, turnback 5, restore x4 from 4, turnback 4, restore x3 from 3, turnback 3, restore x2 from 2, turnback 2, restore x1 from 1, turnback 1, restore x0 from 0, turnback 0, done
//
