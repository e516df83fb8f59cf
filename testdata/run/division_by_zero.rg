// input: 0
fn main(%x: i64) -> i64 {
  %0: i64 = div %x, %x @ "model.py":7
  return %0
}
// ---- expected
// error: model.py:7: integer division by zero: in `div`
