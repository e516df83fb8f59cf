//! Every element type through the front end: literals, mistakes, derivatives, loops, bits.

use retrograd::{
    Array, DType, Data, Direction, ErrorKind, Var, check_grads, compile, eval, f32, f64, for_loop, grad, i32, i64,
    jacfwd, jit, value_and_grad,
};

fn singles(x: &[f32]) -> Array {
    Array::f32([x.len()], x.to_vec())
}

fn integers(x: &[i32]) -> Array {
    Array::new([x.len()], Data::I32(x.to_vec()))
}

#[test]
fn numbers_take_the_type_of_the_other_operand() {
    let f = jit(|[x]| 2.0 * x + 1 - x.gt(0.0).select(x, 0.5));
    assert_eq!(f.run(&[singles(&[1.5, -2.0])]).unwrap(), [singles(&[2.5, -3.5])]);
    let f = jit(|[n]| (n + 3) * 2 - n.clamp(-1, 1));
    assert_eq!(f.run(&[integers(&[5, -7, i32::MAX])]).unwrap(), [integers(&[15, -7, 3])]);
}

#[test]
fn an_index_next_to_an_f32_is_one() {
    let f = jit(|[x]| for_loop(3, x, |i, x| x * 0.5 + i));
    assert_eq!(f.run(&[singles(&[8.0])]).unwrap(), [singles(&[3.5])]);
}

#[test]
fn types_that_differ_say_convert() {
    let error = compile(|[x, y]| x + y, &[f32([2]), f64([2])]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::DType);
    assert_eq!(error.message, "`add` takes one element type, found f32[2] and f64[2]; `convert` one of them");
    let error = compile(|[x, y]| x + y, &[i32([2]), i64([2])]).unwrap_err();
    assert_eq!(error.message, "`add` takes one element type, found i32[2] and i64[2]; `convert` one of them");
    let error = compile(|[n]| n + (1 << 40), &[i32([2])]).unwrap_err();
    assert_eq!(error.message, "`add` takes one element type, found i32[2] and i64; `convert` one of them");
    let f = jit(|[x, y]| x.convert(DType::F64) + y);
    assert_eq!(f.run(&[singles(&[0.5]), Array::f64([1], vec![0.25])]).unwrap(), [Array::f64([1], vec![0.75])]);
}

fn model<'t>(x: Var<'t>) -> Var<'t> {
    for_loop(6, x, |i, s| (s * x).tanh() + s.full([], 0.1) * i + s.sqrt().log() * 0.01).sum()
}

#[test]
fn gradients_of_f32_are_f32_and_close_to_those_of_f64() {
    let x = [0.3, 1.7, 0.9];
    let (value, gradient) = value_and_grad(|[x]| model(x)).run(&[singles(&x.map(|x: f64| x as f32))]).unwrap();
    let (wide_value, wide) = value_and_grad(|[x]| model(x)).run(&[Array::f64([3], x.to_vec())]).unwrap();
    let Data::F32(value) = value.data() else { panic!("an f32") };
    assert!((f64::from(value[0]) - wide_value.as_f64()[0]).abs() < 1e-5);
    let Data::F32(gradient) = gradient[0].data() else { panic!("an f32") };
    for (narrow, wide) in gradient.iter().zip(wide[0].as_f64()) {
        assert!((f64::from(*narrow) - wide).abs() < 1e-4 * wide.abs().max(1.0), "{narrow} {wide}");
    }
    check_grads(|[x]| model(x), &[singles(&[0.3, 1.7, 0.9])], 2, &[Direction::Forward, Direction::Reverse]).unwrap();
}

#[test]
fn every_budget_gives_the_same_bits_in_f32() {
    let x = singles(&[0.3, 1.7, 0.9, 0.2, 0.7]);
    let free = grad(|[x]| model(x)).run(std::slice::from_ref(&x)).unwrap();
    for budget in ["300 B", "500 B", "2 kB"] {
        let found = grad(|[x]| model(x)).budget(budget).run(std::slice::from_ref(&x));
        match found {
            Ok(found) => assert!(free[0].same_bits(&found[0]), "{budget}"),
            Err(error) => assert!(matches!(error.kind, ErrorKind::OverBudget { .. }), "{error}"),
        }
    }
}

#[test]
fn a_jacobian_crosses_conversions() {
    let f = jacfwd(|[x]| (x * x).convert(DType::F64) * 0.5);
    let jacobian = f.run(&[singles(&[3.0, -1.0])]).unwrap();
    assert_eq!(jacobian, [Array::f64([2, 2], vec![3.0, 0.0, 0.0, -1.0])]);
}

#[test]
fn integers_have_bits() {
    let f = jit(|[n]| ((n << 2) | 1) ^ ((n >> 1) & (!n % 5)));
    let expected = [9, -6, 1000].map(|n: i32| ((n << 2) | 1) ^ ((n >> 1) & (!n % 5)));
    assert_eq!(f.run(&[integers(&[9, -6, 1000])]).unwrap(), [integers(&expected)]);
}

#[test]
fn a_division_by_zero_is_a_fault_in_every_width_and_the_smallest_integer_wraps() {
    let f = jit(|[n, d]| n / d + n % d);
    for zero in [integers(&[0]), Array::new([1], Data::I64(vec![0]))] {
        assert_eq!(f.run(&[zero.clone(), zero]).unwrap_err().kind, ErrorKind::DivisionByZero);
    }
    assert_eq!(f.run(&[integers(&[i32::MIN]), integers(&[-1])]).unwrap(), [integers(&[i32::MIN])]);
    let smallest = Array::new([1], Data::I64(vec![i64::MIN]));
    assert_eq!(f.run(&[smallest.clone(), Array::new([1], Data::I64(vec![-1]))]).unwrap(), [smallest]);
}

#[test]
fn sums_and_products_of_matrices_in_every_type() {
    let f = jit(|[a, b]| a.dot(b).sum_axes(&[0]));
    let a = Array::new([2, 2], Data::I32(vec![1, 2, 3, 4]));
    assert_eq!(f.run(&[a.clone(), a]).unwrap(), [integers(&[22, 32])]);
    let a = Array::f32([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
    assert_eq!(f.run(&[a.clone(), a]).unwrap(), [singles(&[22.0, 32.0])]);
}

#[test]
fn machine_code_and_interpreter_agree_on_a_mixed_program() {
    let f = jit(|[x, n]| {
        let wide = x.convert(DType::F64).exp() * n.convert(DType::F64);
        (wide.convert(DType::F32) + x.sin()).slice(1..) * 3.0
    });
    for count in 2..20 {
        let x = Array::f32([count], (0..count).map(|k| k as f32 * 0.3 - 1.0).collect());
        let n = Array::new([count], Data::I32((0..count as i32).collect()));
        let inputs = [x, n];
        let expected = eval::run(&f.compile(&inputs).unwrap().program, &inputs).unwrap();
        let found = f.run(&inputs).unwrap();
        assert!(found[0].same_bits(&expected[0]), "{count}");
    }
}
