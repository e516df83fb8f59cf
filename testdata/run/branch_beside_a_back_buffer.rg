// input: f64[4] [0.5, 1.5, -0.7, 2.0]
fn main(%0: f64[4]) -> f64[4], f64[4], f64[4] {
  %1: f64[1] = slice %0 {start=[0], stop=[1], step=[1]}
  %2: f64 = reshape %1 {shape=[]}
  %3: f64 = constant {value=0.0}
  %4: bool = gt %2, %3
  %5: f64[4] = if %4 args(%0) {then=exchange_0, else=exchange_1}
  %6: bool = not %4
  %7: f64[4] = if %4 args(%0, %5) {then=exchange_2, else=exchange_3}
  %8: bool = and %6, %4
  %9: bool = and %6, %6
  %10: i64 = constant {value=2}
  %11: f64[1] = slice %0 {start=[1], stop=[2], step=[1]}
  %12: f64 = reshape %11 {shape=[]}
  %13: f64[1] = slice %0 {start=[2], stop=[3], step=[1]}
  %14: f64 = reshape %13 {shape=[]}
  %15: bool = gt %12, %14
  %16: f64[4], %17: f64[4], %18: f64[4] = for %10 carries(%7, %0, %5) invariants(%4, %6, %8, %9, %15) {body=exchange_8}
  return %17, %18, %16
}

fn exchange_0(%0: f64[4]) -> f64[4] {
  %1: f64[4] = reverse %0 {axes=[0]}
  return %1
}

fn exchange_1(%0: f64[4]) -> f64[4] {
  return %0
}

fn exchange_2(%0: f64[4], %1: f64[4]) -> f64[4] {
  return %0
}

fn exchange_3(%0: f64[4], %1: f64[4]) -> f64[4] {
  return %1
}

fn exchange_8(%0: i64, %1: f64[4], %2: f64[4], %3: f64[4], %4: bool, %5: bool, %6: bool, %7: bool, %8: bool) -> f64[4], f64[4], f64[4] {
  %9: f64 = sum %1 {axes=[0], exact}
  %10: f64 = constant {value=0.217}
  %11: bool = gt %9, %10
  %12: f64[4], %13: f64[4], %14: f64[4] = if %11 args(%2, %4, %3, %5, %1, %6, %7) {then=exchange_4, else=exchange_5}
  %15: f64 = constant {value=0.9}
  %16: f64[4] = broadcast %15 {shape=[4], axes=[]}
  %17: f64[4] = mul %13, %16 {exact}
  %18: f64[4] = reverse %12 {axes=[0]}
  %19: bool[4] = broadcast %4 {shape=[4], axes=[]}
  %20: f64[4] = select %19, %17, %18
  %21: f64[4] = reverse %20 {axes=[0]}
  %22: bool[4] = broadcast %5 {shape=[4], axes=[]}
  %23: f64[4] = select %22, %17, %21
  %24: f64[4] = reverse %23 {axes=[0]}
  %25: f64[4] = select %19, %23, %14
  %26: bool[4] = broadcast %6 {shape=[4], axes=[]}
  %27: f64[4] = select %26, %24, %25
  %28: bool[4] = broadcast %7 {shape=[4], axes=[]}
  %29: f64[4] = select %28, %23, %27
  %30: f64[4], %31: f64[4], %32: f64[4] = if %8 args(%17, %0, %24, %4, %5, %29, %6, %7, %23) {then=exchange_6, else=exchange_7}
  return %32, %31, %30
}

fn exchange_4(%0: f64[4], %1: bool, %2: f64[4], %3: bool, %4: f64[4], %5: bool, %6: bool) -> f64[4], f64[4], f64[4] {
  %7: f64[4] = reverse %0 {axes=[0]}
  %8: i64 = constant {value=0}
  %9: f64 = constant {value=-0.74}
  %10: f64[1] = broadcast %9 {shape=[1], axes=[]}
  %11: f64[4] = add_at %7, %10, %8 {step=[1]}
  %12: f64[4] = reverse %11 {axes=[0]}
  %13: bool[4] = broadcast %1 {shape=[4], axes=[]}
  %14: f64[4] = select %13, %11, %2
  %15: bool[4] = broadcast %3 {shape=[4], axes=[]}
  %16: f64[4] = select %15, %12, %14
  %17: f64[4] = select %13, %12, %4
  %18: bool[4] = broadcast %5 {shape=[4], axes=[]}
  %19: f64[4] = select %18, %11, %17
  %20: bool[4] = broadcast %6 {shape=[4], axes=[]}
  %21: f64[4] = select %20, %12, %19
  return %12, %16, %21
}

fn exchange_5(%0: f64[4], %1: bool, %2: f64[4], %3: bool, %4: f64[4], %5: bool, %6: bool) -> f64[4], f64[4], f64[4] {
  return %0, %2, %4
}

fn exchange_6(%0: f64[4], %1: i64, %2: f64[4], %3: bool, %4: bool, %5: f64[4], %6: bool, %7: bool, %8: f64[4]) -> f64[4], f64[4], f64[4] {
  %9: f64[1] = slice %2 {start=[0], stop=[1], step=[1]}
  %10: f64[4] = add_at %0, %9, %1 {step=[1]}
  %11: bool[4] = broadcast %3 {shape=[4], axes=[]}
  %12: f64[4] = select %11, %10, %2
  %13: f64[4] = reverse %12 {axes=[0]}
  %14: bool[4] = broadcast %4 {shape=[4], axes=[]}
  %15: f64[4] = select %14, %10, %13
  %16: f64[4] = reverse %15 {axes=[0]}
  %17: f64[4] = select %11, %15, %5
  %18: bool[4] = broadcast %6 {shape=[4], axes=[]}
  %19: f64[4] = select %18, %16, %17
  %20: bool[4] = broadcast %7 {shape=[4], axes=[]}
  %21: f64[4] = select %20, %15, %19
  %22: f64[4] = select %11, %21, %16
  %23: f64[4] = reverse %22 {axes=[0]}
  %24: f64[4] = select %14, %21, %23
  %25: f64[4] = reverse %24 {axes=[0]}
  %26: f64[4] = select %11, %24, %21
  %27: f64[4] = select %18, %25, %26
  %28: f64[4] = select %20, %24, %27
  return %21, %24, %28
}

fn exchange_7(%0: f64[4], %1: i64, %2: f64[4], %3: bool, %4: bool, %5: f64[4], %6: bool, %7: bool, %8: f64[4]) -> f64[4], f64[4], f64[4] {
  return %0, %8, %5
}
// ---- expected
// f64[4] [-0.261, 0.9540000000000001, -0.5670000000000001, 2.0412000000000003]
// f64[4] [2.0412000000000003, -0.5670000000000001, 0.9540000000000001, -0.261]
// f64[4] [-0.261, 0.9540000000000001, -0.5670000000000001, 2.0412000000000003]
