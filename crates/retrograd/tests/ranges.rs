//! Loops over ranges with start, stop and step, and slices with steps, forwards and backwards.

use retrograd::{
    Array, Count, DType, Direction, ErrorKind, Var, bool, check_grads, for_loop, for_loop_emit, i64, jit, range,
    stepped, value_and_grad,
};

const BOTH: &[Direction] = &[Direction::Forward, Direction::Reverse];

/// z = z·x + i over the indices: tells them and their order apart.
fn horner<'t>(x: Var<'t>, indices: impl Into<Count<'t>>) -> Var<'t> {
    for_loop(indices, x.full([], 0.0), |i, z| z * x + i.convert(DType::F64))
}

/// The same and its derivative, of plain numbers.
fn expected(x: f64, indices: impl Iterator<Item = i64>) -> (f64, f64) {
    indices.fold((0.0, 0.0), |(z, dz), i| (z * x + i as f64, z + dz * x))
}

fn python(start: i64, stop: i64, step: i64) -> Vec<i64> {
    let ahead = |i: &i64| if step > 0 { *i < stop } else { *i > stop };
    std::iter::successors(Some(start), |i| Some(i + step)).take_while(ahead).collect()
}

const RANGES: &[(i64, i64, i64)] = &[
    (5, 12, 1),
    (5, 12, 3),
    (5, 11, 3),
    (0, 1, 7),
    (9, 1, -2),
    (9, 0, -3),
    (3, -4, -1),
    (-3, 3, 2),
    (5, 5, 1),
    (5, 2, 1),
    (2, 5, -1),
    (7, 5, 9),
];

#[test]
fn a_loop_runs_over_the_indices_of_its_range() {
    for &(start, stop, step) in RANGES {
        let x = 0.75;
        let (value, gradient) = expected(x, python(start, stop, step).into_iter());
        let known = value_and_grad(move |[x]| horner(x, range(start, stop, step))).run(&[Array::scalar(x)]).unwrap();
        assert_eq!(known, (Array::scalar(value), vec![Array::scalar(gradient)]), "range({start}, {stop}, {step})");
        let traced = value_and_grad(move |[x, start, stop]| horner(x, range(start, stop, step)));
        let traced = traced.run(&[Array::scalar(x), Array::int(start), Array::int(stop)]).unwrap();
        assert_eq!(traced, known, "range({start}, {stop}, {step}) with ends that are known at run time");
        let half = value_and_grad(move |[x, stop]| horner(x, range(start, stop, step)));
        assert_eq!(
            half.run(&[Array::scalar(x), Array::int(stop)]).unwrap(),
            known,
            "range({start}, {stop}, {step}) with one such end"
        );
    }
}

#[test]
fn a_range_of_values_is_a_range() {
    let f = jit(|[first, last]| for_loop(first..last, first.constant(Array::int(0)), |i, sum| sum + i));
    assert_eq!(f.run(&[Array::int(3), Array::int(6)]).unwrap(), [Array::int(12)]);
    assert_eq!(f.trace(&[i64([]), i64([])]).unwrap().main().result_types(), [i64([])]);
}

#[test]
fn a_loop_over_a_range_emits_a_row_per_index() {
    let f = jit(|[x]| for_loop_emit(range(6, 0, -2), x, |i, z| (z + 1.0, z * i.convert(DType::F64))).1);
    assert_eq!(f.run(&[Array::scalar(1.0)]).unwrap(), [Array::f64([3], vec![6.0, 8.0, 6.0])]);
}

#[test]
fn loops_over_ranges_differentiate_twice() {
    fn nested<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        for_loop(range(3, 0, -1), x, |i, z| {
            for_loop(range(i, 7, 2), z, |j, z| (z * j.convert(DType::F64) * 0.3).sin() + x)
        })
    }
    check_grads(nested, &[Array::scalar(0.4)], 2, BOTH).unwrap();
}

#[test]
fn mistakes_in_a_range_name_the_line() {
    let error = jit(|[x]| horner(x, range(1, 5, 0))).run(&[Array::scalar(1.0)]).unwrap_err();
    assert_eq!((&error.kind, &error.message[..]), (&ErrorKind::Argument, "the step of a range is 0"));
    assert!(error.pos.file().is_some_and(|file| file.ends_with("ranges.rs")), "{error}");
    let error = jit(|[x]| for_loop(range(1, x, 1), x, |_, z| z)).run(&[Array::scalar(1.0)]).unwrap_err();
    assert_eq!(error.message, "an end of a range must be a scalar i64, found f64");
    assert_eq!(error.pos.line(), line!() - 2);
}

#[test]
fn slices_run_backwards() {
    let x = Array::f64([2, 5], (0..10).map(f64::from).collect());
    let read = |f: fn(Var<'_>) -> Var<'_>| jit(move |[x]| f(x)).run(&[&x]).unwrap().remove(0);
    assert_eq!(read(|x| x.slice((1, stepped(.., -1)))), Array::f64([5], vec![9.0, 8.0, 7.0, 6.0, 5.0]));
    assert_eq!(read(|x| x.slice((stepped(.., -1), stepped(1..=4, -3)))), Array::f64([2, 2], vec![9.0, 6.0, 4.0, 1.0]));
    assert_eq!(read(|x| x.slice((0, stepped(3..3, -1)))), Array::f64([0], vec![]));
    assert_eq!(
        read(|x| x.set((0, stepped(..3, -1)), x.slice((1, ..3))).slice(0)),
        Array::f64([5], vec![7.0, 6.0, 5.0, 3.0, 4.0])
    );
    assert_eq!(
        read(|x| x.add_at((1, stepped(.., -2)), x.slice((0, ..3))).slice(1)),
        Array::f64([5], vec![7.0, 6.0, 8.0, 8.0, 9.0])
    );
    let error = jit(|[x]| x.slice((0, stepped(..7, -2)))).run(&[&x]).unwrap_err();
    assert_eq!(
        error.message,
        "a window of 4 elements from 6 by -2 is outside axis 1 of f64[2,5], which has 5 elements"
    );
    let error = jit(|[x]| x.slice((0, stepped(.., 0)))).run(&[&x]).unwrap_err();
    assert_eq!(error.message, "a step of 0 along axis 1 of f64[2,5], which has 5 elements");
}

#[test]
fn slices_that_run_backwards_differentiate_twice() {
    fn f<'t>([x]: [Var<'t>; 1]) -> Var<'t> {
        let y = x.set(stepped(..4, -1), x.slice(stepped(2.., -2)).concat(&[x.slice(..2)], 0).sin());
        (y * y.slice(stepped(.., -1)) * x).sum()
    }
    check_grads(f, &[Array::f64([6], vec![0.3, -0.2, 0.9, 0.4, -0.7, 0.1])], 2, BOTH).unwrap();
}

#[test]
fn bool_inputs_have_a_type() {
    let f = jit(|[p, x]| p.select(x, -x)).compile(&[bool([]), retrograd::f64([])]).unwrap();
    assert_eq!(f.run(&[&Array::bool(false), &Array::scalar(2.0)]).unwrap(), [Array::scalar(-2.0)]);
}
