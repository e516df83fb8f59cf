// Literals read back to the same bits.
fn main() -> f64 {
  %0: f64 = constant {value=1.0}
  %1: f64 = constant {value=-0.0}
  %2: f64 = constant {value=1e300}
  %3: f64 = constant {value=0.1000000000000000055511151231257827}
  %4: f64 = constant {value=5e-324}
  %5: f64 = constant {value=inf}
  %6: f64 = constant {value=-inf}
  %7: f64 = constant {value=nan}
  %8: f64 = constant {value=nan(0xfff8000000000001)}
  %9: i64 = constant {value=-9223372036854775808}
  %10: bool = constant {value=false}
  %11: f64[2,2] = constant {value=f64[2,2] [[1, 2.5], [-inf, nan]]}
  %12: f64[2,0,3] = constant {value=f64[2,0,3] []}
  %13: bool[2] = constant {value=bool[2] [true, false]}
  %14: i64[1] = constant {value=i64[1] [7]}
  %15: f32 = constant {value=f32 0.1}
  %16: i32[2] = constant {value=i32[2] [1, -2]}
  %17: f64 = constant {value=f64 3}
  return %0
}
// ---- expected
// fn main() -> f64 {
//   %0: f64 = constant {value=1.0}
//   %1: f64 = constant {value=-0.0}
//   %2: f64 = constant {value=1e300}
//   %3: f64 = constant {value=0.1}
//   %4: f64 = constant {value=5e-324}
//   %5: f64 = constant {value=inf}
//   %6: f64 = constant {value=-inf}
//   %7: f64 = constant {value=nan}
//   %8: f64 = constant {value=nan(0xfff8000000000001)}
//   %9: i64 = constant {value=-9223372036854775808}
//   %10: bool = constant {value=false}
//   %11: f64[2,2] = constant {value=f64[2,2] [[1.0, 2.5], [-inf, nan]]}
//   %12: f64[2,0,3] = constant {value=f64[2,0,3] []}
//   %13: bool[2] = constant {value=bool[2] [true, false]}
//   %14: i64[1] = constant {value=i64[1] [7]}
//   %15: f32 = constant {value=f32 0.1}
//   %16: i32[2] = constant {value=i32[2] [1, -2]}
//   %17: f64 = constant {value=3.0}
//   return %0
// }
