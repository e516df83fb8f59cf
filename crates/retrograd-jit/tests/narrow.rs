//! Numbers of 32 bits, alone and next to those of 64, natively and by the interpreter, bit for bit.

use crate::support::check;
use crate::support::make::{Make, along, at};
use retrograd_compiler::ir::{Array, DType, Data, Scalar, Type};
use retrograd_compiler::lower::kernel::{Address, Order, Place, Reg};
use retrograd_compiler::ops;

const FLOATS: [f32; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    2.5,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MIN_POSITIVE,
    1e-45,
    3e38,
    -9.3e18,
    2.2e9,
    -0.3,
    16_777_217.0,
    7.75,
];
const INTEGERS: [i32; 13] = [0, 1, -1, 7, -7, 3, i32::MIN, i32::MAX, 1 << 24, (1 << 24) + 1, -(1 << 30) - 1, 31, 32];

/// Numbers of a type from a short list, other ones for another seed.
fn numbers(ty: DType, count: usize, seed: usize) -> Array {
    let of = |k: usize| (k * (2 * seed + 1) + seed * seed) % 97;
    let pick = |k: usize| f64::from(of(k) as i32 - 48) * 0.37;
    Array::new(
        [count],
        match ty {
            DType::F32 => Data::F32((0..count).map(|k| pick(k) as f32).collect()),
            DType::F64 => Data::F64((0..count).map(pick).collect()),
            DType::I32 => Data::I32((0..count).map(|k| of(k) as i32 - 48).collect()),
            DType::I64 => Data::I64((0..count).map(|k| of(k) as i64 - 48).collect()),
            DType::Bool => Data::Bool((0..count).map(|k| of(k) % 3 == 0).collect()),
        },
    )
}

/// An op over arrays, in a scalar loop and in a vector loop.
fn both_ways(op: Scalar, inputs: &[&Array]) {
    let count = inputs[0].len();
    let mut make = Make::new(0);
    let from: Vec<Reg> = (0..inputs.len()).map(|k| make.pointer(Place::Input(k as u32))).collect();
    let to = [0, 1].map(|k| make.pointer(Place::Output(k)));
    let mut result = DType::F64;
    let mut step = |make: &mut Make, index: Reg, to: Reg| {
        let args: Vec<Reg> = (0..inputs.len())
            .map(|k| make.load(inputs[k].dtype(), along(from[k], index, inputs[k].dtype().bytes() as i64)))
            .collect();
        let y = make.op(op, &args);
        result = make.ty(y);
        make.store(along(to, index, result.bytes() as i64), y);
    };
    let (zero, end) = (make.int(0), make.int(count as i64));
    make.for_loop(zero, end, Order::Up, |make, index| step(make, index, to[0]));
    make.for_vec(count as u64, |make, index| {
        step(make, index, to[1]);
        vec![]
    });
    check(&make.finish(), inputs, &[Type::new(result, [count]), Type::new(result, [count])]);
}

/// Every elementwise row of the table that takes numbers of this type, on all pairs of special ones.
fn every_row(ty: DType, of: impl Fn(usize) -> Array, special: usize) {
    let pairs = special * special;
    let [x, y, z] = [pairs / special, 1, 5].map(of);
    let truth = numbers(DType::Bool, pairs, 3);
    for row in ops::rows() {
        let retrograd_compiler::ir::Lowering::Map(scalar) = row.lowering else { continue };
        let args: Vec<&Array> = match (scalar, row.arity) {
            // `lower` widens the arguments of functions.
            (Scalar::Call(_), _) => continue,
            (Scalar::Rem, _) if ty == DType::F32 => continue,
            (Scalar::Select, _) => vec![&truth, &x, &y],
            (_, arity) => [&x, &y, &z].into_iter().take(arity.unwrap()).collect(),
        };
        let types: Vec<Type> = args.iter().map(|array| array.ty()).collect();
        if (row.infer)(row, &types, &retrograd_compiler::ir::Attrs::none()).is_ok() {
            both_ways(scalar, &args);
        }
    }
}

#[test]
fn ops_agree_on_special_floats() {
    let n = FLOATS.len();
    every_row(DType::F32, |stride| Array::f32([n * n], (0..n * n).map(|k| FLOATS[k / stride % n]).collect()), n);
}

#[test]
fn ops_agree_on_special_integers() {
    let n = INTEGERS.len();
    every_row(
        DType::I32,
        |stride| Array::new([n * n], Data::I32((0..n * n).map(|k| INTEGERS[k / stride % n]).collect())),
        n,
    );
}

#[test]
fn conversions_agree_at_every_count() {
    for count in 0..=17 {
        for from in DType::ALL {
            for to in DType::ALL {
                both_ways(Scalar::Convert(to), &[&numbers(from, count, 5)]);
            }
        }
    }
    let floats = Array::f32([16], FLOATS.to_vec());
    let integers = Array::new([13], Data::I32(INTEGERS.to_vec()));
    let wide =
        Array::new([6], Data::I64(vec![i64::MAX, i64::MIN, 1 << 40 | 5, (1 << 53) + 1, 0x7fff_ffff_0000_0000, -3]));
    let doubles = Array::f64([9], vec![1e300, -1e300, 1e-300, 3e9, -3e9, f64::NAN, 0.1, f64::INFINITY, 16_777_217.0]);
    for to in DType::ALL {
        for array in [&floats, &integers, &wide, &doubles] {
            both_ways(Scalar::Convert(to), &[array]);
        }
    }
}

#[test]
fn widths_that_meet_in_one_loop_agree_at_every_count() {
    for count in (0..=35).chain([255, 257]) {
        for (narrow, wide) in
            [(DType::F32, DType::F64), (DType::I32, DType::I64), (DType::F32, DType::I64), (DType::I32, DType::F64)]
        {
            let mut make = Make::new(0);
            let [x, y, p] = [0, 1, 2].map(|k| make.pointer(Place::Input(k)));
            let [first, second, third] = [0, 1, 2].map(|k| make.pointer(Place::Output(k)));
            make.for_vec(count, |make, index| {
                let x = make.load(narrow, along(x, index, 4));
                let y = make.load(wide, along(y, index, 8));
                let p = make.load(DType::Bool, along(p, index, 1));
                let long = make.op(Scalar::Convert(wide), &[x]);
                let sum = make.op(Scalar::Add, &[long, y]);
                let short = make.op(Scalar::Convert(narrow), &[sum]);
                let least = make.op(Scalar::Min, &[short, x]);
                let less = make.op(Scalar::Lt, &[x, short]);
                let both = make.op(Scalar::And, &[less, p]);
                let chosen = make.op(Scalar::Select, &[both, least, x]);
                let other = make.op(Scalar::Select, &[less, sum, y]);
                make.store(along(first, index, 4), chosen);
                make.store(along(second, index, 8), other);
                make.store(along(third, index, 1), both);
                vec![]
            });
            let n = count as usize;
            let inputs = [numbers(narrow, n, 1), numbers(wide, n, 2), numbers(DType::Bool, n, 3)];
            let outputs = [Type::new(narrow, [n]), Type::new(wide, [n]), Type::new(DType::Bool, [n])];
            check(&make.finish(), &[&inputs[0], &inputs[1], &inputs[2]], &outputs);
        }
    }
}

#[test]
fn strides_and_uniform_values_agree() {
    for count in 0..=19 {
        let mut make = Make::new(0);
        let (x, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
        let scale = make.literal(DType::F32, u64::from(1.25_f32.to_bits()));
        make.for_vec(count, |make, index| {
            let third = make.load(DType::F32, along(x, index, 12));
            let first = make.load(DType::F32, at(x, 4));
            let z = make.op(Scalar::Fma, &[third, scale, first]);
            let nan = make.op(Scalar::IsNan, &[z]);
            let z = make.op(Scalar::Select, &[nan, scale, z]);
            make.store(along(to, index, 8), z);
            make.store(Address { offset: 4, ..along(to, index, 8) }, third);
            vec![]
        });
        check(&make.finish(), &[&numbers(DType::F32, 3 * count as usize + 2, 4)], &[Type::f32([2 * count as usize])]);
    }
}

#[test]
fn sums_keep_their_order_in_every_type() {
    for count in (0..=33).chain([255, 4095, 4096, 4097, 4104, 8193, 12291]) {
        for ty in [DType::F32, DType::I32, DType::I64] {
            let mut make = Make::new(0);
            let (x, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
            let bytes = ty.bytes() as i64;
            let sums = make.for_vec(count, |make, index| {
                let x = make.load(ty, along(x, index, bytes));
                let y = make.op(Scalar::Mul, &[x, x]);
                vec![y, x]
            });
            for (k, sum) in (0..).zip(sums) {
                make.store(at(to, k * bytes), sum);
            }
            check(&make.finish(), &[&numbers(ty, count as usize, 7)], &[Type::new(ty, [2])]);
        }
    }
}

#[test]
fn a_narrow_sum_next_to_a_wide_one_agrees() {
    for count in (0..=19).chain([4097]) {
        let mut make = Make::new(0);
        let (x, to) = (make.pointer(Place::Input(0)), [make.pointer(Place::Output(0)), make.pointer(Place::Output(1))]);
        let sums = make.for_vec(count, |make, index| {
            let x = make.load(DType::F32, along(x, index, 4));
            let wide = make.op(Scalar::Convert(DType::F64), &[x]);
            vec![x, wide]
        });
        make.store(at(to[0], 0), sums[0]);
        make.store(at(to[1], 0), sums[1]);
        check(&make.finish(), &[&numbers(DType::F32, count as usize, 9)], &[Type::f32([]), Type::f64([])]);
    }
}
