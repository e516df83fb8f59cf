fn main(%0: f64) -> f64 {
  %1: f64 = neg %0;
  return %1
}
// ---- expected
// error: error_character.rg:2: parse error: unexpected character ';'
