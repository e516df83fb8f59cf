//! Vector loops that press on what a machine with long vectors has: more values than registers, rows apart, sums of
//! several chunks. Natively and by the interpreter, bit for bit.

use crate::support::check;
use crate::support::make::{Make, along, at};
use retrograd_compiler::ir::{Array, DType, Data, LaneFunction, Reduction, Scalar, Type};
use retrograd_compiler::lower::kernel::{Address, OrderedWrite, Place, Reg, Stmt};

/// Fewer steps than a block, whole blocks, and all that can remain.
const COUNTS: [u64; 9] = [15, 16, 17, 23, 24, 31, 40, 47, 101];

fn numbers(count: u64) -> Array {
    let draw = |k: u64| (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 22) - 2.0;
    Array::f64([count as usize], (1..=count).map(draw).collect())
}

/// Loads `input[index + offset]`.
fn near(make: &mut Make, base: Reg, index: Reg, offset: i64) -> Reg {
    make.load(DType::F64, Address { base, terms: vec![(index, 8)], offset: 8 * offset })
}

#[test]
fn more_values_than_registers_wait_in_memory() {
    for count in COUNTS {
        let mut make = Make::new(0);
        let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
        let scale = make.load(DType::F64, at(x, 0));
        make.for_vec(count, |make, index| {
            let values: Vec<Reg> = (0..50).map(|k| near(make, x, index, k)).collect();
            let scaled: Vec<Reg> = values.iter().map(|&value| make.op(Scalar::Mul, &[scale, value])).collect();
            // Everything is read again, the first last.
            let mut sum = scale;
            for (&a, &b) in values.iter().zip(&scaled).rev() {
                sum = make.op(Scalar::Fma, &[a, b, sum]);
            }
            for (&a, &b) in values.iter().zip(&scaled) {
                let difference = make.op(Scalar::Sub, &[a, sum]);
                sum = make.op(Scalar::Div, &[difference, b]);
            }
            make.store(along(y, index, 8), sum);
            vec![]
        });
        check(&make.finish(), &[&numbers(count + 50)], &[Type::f64([count as usize])]);
    }
}

#[test]
fn more_truths_than_registers_wait_in_memory() {
    let mut make = Make::new(0);
    let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
    let zero = make.float(0.0);
    make.for_vec(41, |make, index| {
        let values: Vec<Reg> = (0..20).map(|k| near(make, x, index, k)).collect();
        let truths: Vec<Reg> = values.windows(2).map(|two| make.op(Scalar::Lt, two)).collect();
        let mut chosen = zero;
        for (&truth, &value) in truths.iter().zip(&values).rev() {
            let sum = make.op(Scalar::Add, &[chosen, value]);
            chosen = make.op(Scalar::Select, &[truth, sum, chosen]);
        }
        let all = truths[1..].iter().fold(truths[0], |all, &truth| make.op(Scalar::Xor, &[all, truth]));
        let not = make.op(Scalar::Not, &[all]);
        let number = make.op(Scalar::Convert(DType::F64), &[not]);
        let result = make.op(Scalar::Add, &[chosen, number]);
        make.store(along(y, index, 8), result);
        vec![]
    });
    check(&make.finish(), &[&numbers(61)], &[Type::f64([41])]);
}

/// Every sign of product and summand, and every operand as the one that nobody reads again, or none, or one that is the
/// same for all steps.
#[test]
fn products_that_are_added_have_their_signs() {
    let mut make = Make::new(0);
    let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
    let same = make.load(DType::F64, at(x, 16));
    let mut results = 0;
    for signs in 0..8 {
        for kept in 0..8 {
            make.for_vec(16, |make, index| {
                let mut factors: Vec<Reg> = (0..3).map(|k| near(make, x, index, k)).collect();
                if kept == 7 {
                    factors[signs % 3] = same;
                }
                let signed: Vec<Reg> = (0..3)
                    .map(|k| if signs >> k & 1 == 1 { make.op(Scalar::Neg, &[factors[k]]) } else { factors[k] })
                    .collect();
                let mut result = make.op(Scalar::Fma, &signed);
                for k in (0..3).filter(|k| kept >> k & 1 == 1) {
                    result = make.op(Scalar::Sub, &[result, factors[k]]);
                }
                make.store(Address { base: y, terms: vec![(index, 8)], offset: 128 * results }, result);
                vec![]
            });
            results += 1;
        }
    }
    check(&make.finish(), &[&numbers(32)], &[Type::f64([16 * results as usize])]);
}

#[test]
fn rows_are_read_and_added_to_lane_by_lane() {
    for count in COUNTS {
        let mut make = Make::new(0);
        let (x, rows, y) =
            (make.pointer(Place::Input(0)), make.pointer(Place::Input(1)), make.pointer(Place::Output(0)));
        let apart = make.pointer(Place::Output(1));
        make.push(Stmt::Zero { to: at(y, 0), bytes: 7 * 24 });
        make.for_vec(count, |make, index| {
            let row = make.load(DType::I64, along(rows, index, 8));
            let of = |base: Reg, component: i64| Address { base, terms: vec![(row, 24)], offset: 8 * component };
            // Nobody reads the first.
            let point: Vec<Reg> = [3, 0, 1, 2].map(|k| make.load(DType::F64, of(x, k)))[1..].to_vec();
            // Numbers of its own row, of four, and of one that follows from both.
            let own: Vec<Reg> = [0, 1, 3]
                .map(|k| make.load(DType::F64, Address { base: x, terms: vec![(index, 32)], offset: 8 * k }))
                .to_vec();
            let both = make.load(DType::F64, Address { base: x, terms: vec![(row, 16), (index, 8)], offset: 8 });
            let moved: Vec<Reg> = point.iter().zip(&own).map(|(&a, &b)| make.op(Scalar::Fma, &[a, both, b])).collect();
            make.store(Address { base: apart, terms: vec![(index, 16)], offset: 8 }, moved[2]);
            make.store(Address { base: apart, terms: vec![(index, 16)], offset: 0 }, both);
            let turn = |component: i64| OrderedWrite {
                to: of(y, component),
                op: Some(Scalar::Add),
                src: moved[component as usize],
            };
            make.push(Stmt::OrderedScatter(vec![turn(0), turn(1), turn(2)]));
            vec![]
        });
        let places = Array::new([count as usize], Data::I64((0..count as i64).map(|k| k * k % 7).collect()));
        check(
            &make.finish(),
            &[&numbers(4 * count + 21), &places],
            &[Type::f64([21]), Type::f64([2 * count as usize])],
        );
    }
}

#[test]
fn sums_of_many_chunks_keep_their_order() {
    for count in [16, 31, 33, 4096, 4097, 3 * 4096 + 45] {
        let mut make = Make::new(0);
        let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
        let sums = make.for_vec_folds(count, |make, index| {
            let (a, b) = (near(make, x, index, 0), near(make, x, index, 1));
            let product = make.op(Scalar::Mul, &[a, b]);
            let less = make.op(Scalar::Lt, &[a, b]);
            vec![
                (a, Reduction::Sum),
                (product, Reduction::Sum),
                (less, Reduction::Any),
                (less, Reduction::All),
                (b, Reduction::Prod),
            ]
        });
        for (k, &sum) in (0..).zip(&sums) {
            let sum = if make.ty(sum) == DType::Bool { make.op(Scalar::Convert(DType::F64), &[sum]) } else { sum };
            make.store(at(y, 8 * k), sum);
        }
        check(&make.finish(), &[&numbers(count + 1)], &[Type::f64([5])]);
    }
}

/// What is special comes once, at the beginning, between, or as a step that remains.
#[test]
fn the_greatest_and_the_least_of_all_know_zeros_and_nan() {
    for (count, special) in
        [16, 25, 41, 4096 + 77].into_iter().flat_map(|count| [0.0, -0.0, f64::NAN, f64::INFINITY].map(|x| (count, x)))
    {
        for (sign, place) in
            [-1.0, 1.0, -0.0, 0.0].into_iter().flat_map(|sign| [0, 11, count - 1].map(|place| (sign, place)))
        {
            let Data::F64(drawn) = numbers(count).data().clone() else { panic!("numbers are floats") };
            let mut values: Vec<f64> = drawn.iter().map(|x| sign * x.abs()).collect();
            values[place as usize] = special;
            let mut make = Make::new(0);
            let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
            let folds = make.for_vec_folds(count, |make, index| {
                let a = near(make, x, index, 0);
                vec![(a, Reduction::Max), (a, Reduction::Min), (a, Reduction::Sum)]
            });
            for (k, &fold) in (0..).zip(&folds) {
                make.store(at(y, 8 * k), fold);
            }
            check(&make.finish(), &[&Array::f64([count as usize], values)], &[Type::f64([3])]);
        }
    }
}

#[test]
fn integers_are_reduced() {
    for count in COUNTS {
        let mut make = Make::new(0);
        let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
        let folds = make.for_vec_folds(count, |make, index| {
            let a = make.load(DType::I64, along(x, index, 8));
            let [least, greatest] = [Scalar::Min, Scalar::Max].map(|op| make.op(op, &[a, index]));
            vec![
                (a, Reduction::Sum),
                (least, Reduction::Max),
                (greatest, Reduction::Min),
                (a, Reduction::Max),
                (a, Reduction::Prod),
            ]
        });
        for (k, &fold) in (0..).zip(&folds) {
            make.store(at(y, 8 * k), fold);
        }
        let values = (0..count.cast_signed()).map(|k| (k - 17).wrapping_mul(0x7fff_1234_5678_9abc)).collect();
        check(&make.finish(), &[&Array::new([count as usize], Data::I64(values))], &[Type::new(DType::I64, [5])]);
    }
}

#[test]
fn integers_and_the_index_of_the_loop_are_numbers_too() {
    let mut make = Make::new(0);
    let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
    let length = make.load(DType::I64, at(x, 0));
    make.for_vec(39, |make, index| {
        let value = make.load(DType::I64, along(x, index, 8));
        let moved = make.op(Scalar::Add, &[value, length]);
        let zero = make.int(0);
        let negative = make.op(Scalar::Lt, &[value, zero]);
        let wrapped = make.op(Scalar::Select, &[negative, moved, value]);
        let turned = make.op(Scalar::Mul, &[wrapped, index]);
        let bits = make.op(Scalar::Xor, &[turned, value]);
        let other = make.op(Scalar::Not, &[bits]);
        let number = make.op(Scalar::Convert(DType::F64), &[other]);
        let root = make.op(Scalar::Abs, &[number]);
        let root = make.op(Scalar::Sqrt, &[root]);
        let rounded = [Scalar::Floor, Scalar::Ceil, Scalar::Round, Scalar::Trunc].map(|op| make.op(op, &[root]));
        let sum = rounded.into_iter().reduce(|a, b| make.op(Scalar::Add, &[a, b])).unwrap();
        make.store(along(y, index, 8), sum);
        vec![]
    });
    let values = (0..39).map(|k: i64| (k - 17).wrapping_mul(0x7fff_1234_5678_9abc)).collect();
    check(&make.finish(), &[&Array::new([39], Data::I64(values))], &[Type::f64([39])]);
}

#[test]
fn the_lesser_and_the_greater_know_zeros_and_nan() {
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.5, -1.5, 5e-324];
    let pairs = special.iter().flat_map(|&a| special.map(|b| [a, b]));
    let numbers: Vec<f64> = pairs.flatten().collect();
    let mut make = Make::new(0);
    let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
    make.for_vec(64, |make, index| {
        let [a, b] = [0, 8].map(|offset| make.load(DType::F64, Address { base: x, terms: vec![(index, 16)], offset }));
        for (op, offset) in [(Scalar::Min, 0), (Scalar::Max, 512)] {
            let extreme = make.op(op, &[a, b]);
            make.store(Address { base: y, terms: vec![(index, 8)], offset }, extreme);
        }
        vec![]
    });
    check(&make.finish(), &[&Array::f64([128], numbers)], &[Type::f64([128])]);
}

/// Some are in line, others called.
const FUNCTIONS: [LaneFunction; 18] = [
    LaneFunction::Exp,
    LaneFunction::Exp2,
    LaneFunction::Expm1,
    LaneFunction::Logistic,
    LaneFunction::Log,
    LaneFunction::Log2,
    LaneFunction::Log10,
    LaneFunction::Log1p,
    LaneFunction::Sinh,
    LaneFunction::Cosh,
    LaneFunction::Tanh,
    LaneFunction::Sin,
    LaneFunction::Cos,
    LaneFunction::Erf,
    LaneFunction::Pow,
    LaneFunction::LogAddExp,
    LaneFunction::LogAddExp2,
    LaneFunction::Hypot,
];

fn takes_two(function: LaneFunction) -> bool {
    matches!(function, LaneFunction::Pow | LaneFunction::LogAddExp | LaneFunction::LogAddExp2 | LaneFunction::Hypot)
}

/// Every magnitude, and what is no number: between other statements, between other statements, and in a sum.
#[test]
fn functions_stand_between_other_statements() {
    let special = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        5e-324,
        -1e-310,
        709.9,
        -745.2,
        1e300,
        -1e300,
        1e-200,
        -22.0,
        0.25,
    ];
    let magnitudes = (0..150).map(|k| (f64::from(k) * 0.73 - 40.0).exp2() * if k % 3 == 0 { -1.0 } else { 1.0 });
    let arguments: Vec<f64> = special.into_iter().chain(magnitudes).collect();
    let all = arguments.len() as u64;
    // Few steps, too.
    for (function, count) in FUNCTIONS.into_iter().flat_map(|function| [(function, 4), (function, 13), (function, all)])
    {
        let mut make = Make::new(0);
        let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
        let (values, scaled) = (make.pointer(Place::Output(1)), make.float(1.5));
        let sums = make.for_vec_folds(count, |make, index| {
            let argument = near(make, x, index, 0);
            let again = make.op(Scalar::Mul, &[argument, scaled]);
            let arity = if takes_two(function) { 2 } else { 1 };
            let value = make.op(Scalar::Call(function), &[argument, again][..arity]);
            let again = make.op(Scalar::Call(function), &[again, argument][..arity]);
            let both = make.op(Scalar::Sub, &[again, value]);
            make.store(along(values, index, 8), value);
            make.store(Address { base: values, terms: vec![(index, 8)], offset: 8 * count.cast_signed() }, both);
            let less = make.op(Scalar::Lt, &[value, argument]);
            let least = make.op(Scalar::Select, &[less, value, argument]);
            vec![(least, Reduction::Sum)]
        });
        make.store(at(y, 0), sums[0]);
        let arguments = arguments[..count as usize].to_vec();
        check(
            &make.finish(),
            &[&Array::f64([count as usize], arguments)],
            &[Type::f64([1]), Type::f64([2 * count as usize])],
        );
    }
}
