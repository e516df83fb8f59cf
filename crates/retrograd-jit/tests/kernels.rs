//! Hand-made kernels, natively and by the interpreter, bit for bit.

use crate::support::make::{BINARY, Make, UNARY, along, at};
use crate::support::{backends, check, executable};
use retrograd_compiler::ir::{Array, DType, Data, ErrorKind, LaneFunction, Pos, Reduction, Scalar, Type};
use retrograd_compiler::lower::Fault;
use retrograd_compiler::lower::kernel::{ActionCode, Address, Order, OrderedWrite, Place, Reg, Stmt};
use retrograd_jit::Backend;
use retrograd_schedule::{Blocks, Recipe, Schedule, Sweep};

const COUNTS: [u64; 14] = [31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097, 8193];

fn counts() -> impl Iterator<Item = u64> {
    (0..=17).chain(COUNTS)
}

const SPECIAL: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MIN_POSITIVE,
    5e-324,
    1e300,
    -9.3e18,
    709.7,
];

/// Of floats and of integers.
const ARITHMETIC: [Scalar; 10] = [
    Scalar::Add,
    Scalar::Sub,
    Scalar::Mul,
    Scalar::Div,
    Scalar::Lt,
    Scalar::Le,
    Scalar::Gt,
    Scalar::Ge,
    Scalar::Eq,
    Scalar::Ne,
];

/// Numbers of ordinary size, from a seed.
fn numbers(count: u64, seed: u64) -> Array {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let draw = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 4.0 - 2.0
    };
    Array::f64([count as usize], (0..count).map(draw).collect())
}

fn ints(x: Vec<i64>) -> Array {
    Array::new([x.len()], Data::I64(x))
}

#[test]
fn scalar_ops_agree_on_special_numbers() {
    let unary = [DType::F64, DType::I64, DType::Bool].map(Scalar::Convert);
    let pairs: Vec<(f64, f64)> = SPECIAL.iter().flat_map(|&x| SPECIAL.map(|y| (x, y))).collect();
    let x = Array::f64([pairs.len()], pairs.iter().map(|pair| pair.0).collect());
    let y = Array::f64([pairs.len()], pairs.iter().map(|pair| pair.1).collect());
    for op in ARITHMETIC.into_iter().chain(BINARY) {
        both_ways(op, &[&x, &y]);
    }
    for op in unary.into_iter().chain(UNARY).chain([Scalar::IsNan, Scalar::IsFinite]) {
        both_ways(op, &[&x]);
    }
    let cond = Array::new([pairs.len()], Data::Bool((0..pairs.len()).map(|k| k % 3 == 0).collect()));
    both_ways(Scalar::Select, &[&cond, &x, &y]);
    let z = Array::f64([pairs.len()], (0..pairs.len()).map(|k| SPECIAL[k * 7 % SPECIAL.len()]).collect());
    for op in [Scalar::Fma, Scalar::Clamp] {
        both_ways(op, &[&x, &y, &z]);
    }
}

#[test]
fn scalar_ops_agree_on_special_integers() {
    let special = [0, 1, -1, 7, -7, 3, i64::MIN, i64::MAX, 1 << 53, (1 << 53) + 1, -(1 << 62) - 1, 0x1_0000_0001];
    let pairs: Vec<(i64, i64)> = special.iter().flat_map(|&x| special.map(|y| (x, y))).collect();
    let x = ints(pairs.iter().map(|pair| pair.0).collect());
    let y = ints(pairs.iter().map(|pair| pair.1).collect());
    let more = [Scalar::Rem, Scalar::Min, Scalar::Max, Scalar::And, Scalar::Or, Scalar::Xor, Scalar::Shl, Scalar::Shr];
    for op in ARITHMETIC.into_iter().chain(more) {
        both_ways(op, &[&x, &y]);
    }
    for count in -2..70 {
        let count = ints(vec![count; pairs.len()]);
        both_ways(Scalar::Shl, &[&x, &count]);
        both_ways(Scalar::Shr, &[&x, &count]);
    }
    both_ways(Scalar::Clamp, &[&x, &y, &ints((0..pairs.len()).map(|k| special[k * 5 % special.len()]).collect())]);
    for op in [Scalar::Neg, Scalar::Abs, Scalar::Sign, Scalar::Not] {
        both_ways(op, &[&x]);
    }
    for to in [DType::F64, DType::I64, DType::Bool] {
        both_ways(Scalar::Convert(to), &[&x]);
    }
    let cond = Array::new([pairs.len()], Data::Bool((0..pairs.len()).map(|k| k % 3 == 0).collect()));
    both_ways(Scalar::Select, &[&cond, &x, &y]);
}

#[test]
fn scalar_ops_agree_on_truth_values() {
    let x = Array::new([11], Data::Bool((0..11).map(|k| k % 2 == 0).collect()));
    let y = Array::new([11], Data::Bool((0..11).map(|k| k % 4 < 2).collect()));
    let binary =
        [Scalar::And, Scalar::Or, Scalar::Xor, Scalar::Lt, Scalar::Le, Scalar::Gt, Scalar::Ge, Scalar::Eq, Scalar::Ne];
    for op in binary {
        both_ways(op, &[&x, &y]);
    }
    both_ways(Scalar::Not, &[&x]);
    both_ways(Scalar::Select, &[&x, &y, &x]);
    for to in [DType::F64, DType::I64, DType::Bool] {
        both_ways(Scalar::Convert(to), &[&x]);
    }
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

#[test]
fn vector_loops_agree_at_every_count() {
    for count in counts() {
        let mut make = Make::new(0);
        let (x, y) = (make.pointer(Place::Input(0)), make.pointer(Place::Input(1)));
        let to = make.pointer(Place::Output(0));
        let scale = make.float(1.25);
        make.for_vec(count, |make, index| {
            let x = make.load(DType::F64, along(x, index, 8));
            let y = make.load(DType::F64, along(y, index, 8));
            let i = make.op(Scalar::Convert(DType::F64), &[index]);
            let z = make.op(Scalar::Mul, &[x, scale]);
            let z = make.op(Scalar::Add, &[z, y]);
            let z = make.op(Scalar::Sub, &[z, i]);
            make.store(along(to, index, 8), z);
            vec![]
        });
        check(&make.finish(), &[&numbers(count, 1), &numbers(count, 2)], &[Type::f64([count as usize])]);
    }
}

#[test]
fn strides_broadcasts_gathers_and_scatters_agree() {
    for count in counts() {
        let n = count as usize;
        let mut make = Make::new(0);
        let (x, table) = (make.pointer(Place::Input(0)), make.pointer(Place::Input(1)));
        let to = make.pointer(Place::Output(0));
        let last = make.int(count as i64 - 1);
        make.for_vec(count, |make, index| {
            let every_third = make.load(DType::F64, along(x, index, 24));
            let backwards = make.load(DType::F64, Address { base: x, terms: vec![(last, 8), (index, -8)], offset: 0 });
            let one = make.load(DType::F64, at(x, 0));
            let j = make.load(DType::I64, along(table, index, 8));
            let gathered = make.load(DType::F64, Address { base: x, terms: vec![(j, 16), (index, 8)], offset: 0 });
            let sum = make.op(Scalar::Add, &[every_third, backwards]);
            let product = make.op(Scalar::Mul, &[one, gathered]);
            let sum = make.op(Scalar::Add, &[sum, product]);
            make.store(along(to, j, 8), sum);
            vec![]
        });
        let table = ints((0..count as i64).map(|k| count as i64 - 1 - k).collect());
        check(&make.finish(), &[&numbers(3 * count + 1, 3), &table], &[Type::f64([n])]);
    }
}

#[test]
fn a_vector_loop_may_work_in_place() {
    for count in counts() {
        let mut make = Make::new(count as usize * 8);
        let (x, arena, same) =
            (make.pointer(Place::Input(0)), make.pointer(Place::Arena(0)), make.pointer(Place::Arena(0)));
        let to = make.pointer(Place::Output(0));
        make.push(Stmt::Copy { to: at(arena, 0), from: at(x, 0), bytes: count * 8 });
        make.for_vec(count, |make, index| {
            let x = make.load(DType::F64, along(arena, index, 8));
            let y = make.op(Scalar::Sqrt, &[x]);
            let e = make.op(Scalar::Call(LaneFunction::Exp), &[x]);
            let y = make.op(Scalar::Add, &[e, y]);
            make.store(along(same, index, 8), y);
            let t = make.op(Scalar::Call(LaneFunction::Tanh), &[y]);
            let again = make.load(DType::F64, along(arena, index, 8));
            let z = make.op(Scalar::Mul, &[again, t]);
            let z = make.op(Scalar::Sub, &[z, x]);
            make.store(along(arena, index, 8), z);
            vec![]
        });
        make.push(Stmt::Copy { to: at(to, 0), from: at(arena, 0), bytes: count * 8 });
        check(&make.finish(), &[&numbers(count, 4)], &[Type::f64([count as usize])]);
    }
}

/// `tanh(a·x + b)·exp(−x·x)`.
fn chain(make: &mut Make, x: Reg, a: Reg, b: Reg) -> Reg {
    let t = make.op(Scalar::Mul, &[a, x]);
    let t = make.op(Scalar::Add, &[t, b]);
    let t = make.op(Scalar::Call(LaneFunction::Tanh), &[t]);
    let e = make.op(Scalar::Mul, &[x, x]);
    let e = make.op(Scalar::Neg, &[e]);
    let e = make.op(Scalar::Call(LaneFunction::Exp), &[e]);
    make.op(Scalar::Mul, &[t, e])
}

#[test]
fn chains_of_transcendentals_agree() {
    for count in counts() {
        let mut make = Make::new(0);
        let (x, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
        let (a, b) = (make.float(1.5), make.float(-0.25));
        let sums = make.for_vec(count, |make, index| {
            let x = make.load(DType::F64, along(x, index, 8));
            let y = chain(make, x, a, b);
            make.store(along(to, index, 8), y);
            let positive = make.op(Scalar::Lt, &[b, y]);
            let deeper = make.op(Scalar::Call(LaneFunction::Sin), &[y]);
            let deeper = make.op(Scalar::Call(LaneFunction::Cos), &[deeper]);
            let chosen = make.op(Scalar::Select, &[positive, deeper, x]);
            vec![y, chosen, x, a]
        });
        store_all(&mut make, &sums, 1);
        check(&make.finish(), &[&numbers(count, 5)], &[Type::f64([count as usize]), Type::f64([4])]);
    }
}

/// Registers to consecutive places of an output.
fn store_all(make: &mut Make, regs: &[Reg], output: u32) {
    let to = make.pointer(Place::Output(output));
    for (k, &reg) in (0..).zip(regs) {
        make.store(at(to, 8 * k), reg);
    }
}

#[test]
fn calls_with_two_arguments_agree() {
    for count in counts() {
        for op in BINARY.into_iter().filter(|op| matches!(op, Scalar::Call(_))) {
            let mut make = Make::new(0);
            let [x, y] = [0, 1].map(|k| make.pointer(Place::Input(k)));
            let to: Vec<Reg> = (0..4).map(|k| make.pointer(Place::Output(k))).collect();
            let two = make.float(2.0);
            make.for_vec(count, |make, index| {
                let [x, y] = [x, y].map(|from| make.load(DType::F64, along(from, index, 8)));
                // Of memory, with an argument that is the same for all steps, of another call, and of the same twice.
                let first = make.op(op, &[x, y]);
                let second = make.op(op, &[x, two]);
                let third = make.op(op, &[two, first]);
                let fourth = make.op(op, &[third, third]);
                for (&to, value) in to.iter().zip([first, second, third, fourth]) {
                    make.store(along(to, index, 8), value);
                }
                vec![]
            });
            check(
                &make.finish(),
                &[&numbers(count, 6), &numbers(count, 7)],
                &[(); 4].map(|()| Type::f64([count as usize])),
            );
        }
    }
}

#[test]
fn a_call_from_memory_to_memory_agrees() {
    for count in counts() {
        for op in UNARY.into_iter().filter(|op| matches!(op, Scalar::Call(_))) {
            let mut make = Make::new(0);
            let (x, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
            make.for_vec(count, |make, index| {
                let x = make.load(DType::F64, along(x, index, 8));
                let y = make.op(op, &[x]);
                make.store(along(to, index, 8), y);
                vec![]
            });
            check(&make.finish(), &[&numbers(count, 6)], &[Type::f64([count as usize])]);
        }
    }
}

#[test]
fn functions_agree_on_every_magnitude() {
    let scatter = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut x: Vec<f64> = SPECIAL.iter().flat_map(|&x| [x, -x, x.next_up(), x.next_down()]).collect();
    x.extend((0..3000).map(|k| f64::from_bits(scatter(k))));
    for size in [1.0, 25.0, 800.0, 1e9, 1e300] {
        x.extend((0..600).map(|k| size * (scatter(k) as i64 as f64) / (1_u64 << 63) as f64));
    }
    let x = Array::f64([x.len()], x);
    for op in UNARY {
        both_ways(op, &[&x]);
    }
}

#[test]
fn what_a_call_computes_can_be_stored_and_summed() {
    for count in counts() {
        let mut make = Make::new(0);
        let (x, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
        let sums = make.for_vec(count, |make, index| {
            let x = make.load(DType::F64, along(x, index, 8));
            let y = make.op(Scalar::Call(LaneFunction::Exp), &[x]);
            make.store(along(to, index, 8), y);
            vec![y]
        });
        store_all(&mut make, &sums, 1);
        check(&make.finish(), &[&numbers(count, 6)], &[Type::f64([count as usize]), Type::f64([1])]);
    }
}

#[test]
fn a_step_reads_what_it_wrote() {
    let mut make = Make::new(8);
    let (arena, same, to) =
        (make.pointer(Place::Arena(0)), make.pointer(Place::Arena(0)), make.pointer(Place::Output(0)));
    let (one, two) = (make.float(1.0), make.float(2.0));
    make.store(at(arena, 0), one);
    make.for_vec(1, |make, _| {
        make.store(at(arena, 0), two);
        let x = make.load(DType::F64, at(same, 0));
        make.store(at(to, 0), x);
        vec![]
    });
    let outputs = check(&make.finish(), &[], &[Type::f64([1])]);
    assert_eq!(outputs[0].as_f64(), [2.0]);
}

#[test]
fn reductions_keep_their_order_at_every_count() {
    for count in counts().chain([4088, 4104, 8191, 8192, 12291]) {
        let mut make = Make::new(0);
        let x = make.pointer(Place::Input(0));
        let half = make.float(0.5);
        let folds = make.for_vec_folds(count, |make, index| {
            let x = make.load(DType::F64, along(x, index, 8));
            let near_one = make.op(Scalar::Call(LaneFunction::Exp), &[x]);
            let truth = make.op(Scalar::Lt, &[x, half]);
            let floats = [Reduction::Prod, Reduction::Max, Reduction::Min].map(|how| (near_one, how));
            let ints = [Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min].map(|how| (index, how));
            [&floats[..], &ints, &[(truth, Reduction::Any), (truth, Reduction::All), (half, Reduction::Max)]].concat()
        });
        let floats: Vec<Reg> = folds.iter().map(|&fold| make.op(Scalar::Convert(DType::F64), &[fold])).collect();
        store_all(&mut make, &floats, 0);
        check(&make.finish(), &[&numbers(count, 8)], &[Type::f64([10])]);
    }
}

#[test]
fn sums_keep_their_order_at_every_count() {
    for count in counts().chain([4088, 4104, 8191, 8192, 12288, 12291]) {
        let mut make = Make::new(0);
        let x = make.pointer(Place::Input(0));
        let sums = make.for_vec(count, |make, index| {
            let x = make.load(DType::F64, along(x, index, 8));
            let y = make.op(Scalar::Mul, &[x, x]);
            vec![y, x]
        });
        store_all(&mut make, &sums, 0);
        check(&make.finish(), &[&numbers(count, 7)], &[Type::f64([2])]);
    }
}

#[test]
fn a_chain_of_loops_and_branches_agrees() {
    let mut make = Make::new(16);
    let (n, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
    let (mut x, y) = (make.float(0.5), make.float(1.0));
    let (zero, one, n) = (make.int(0), make.int(1), make.load(DType::I64, at(n, 0)));
    for order in [Order::Up, Order::Down] {
        make.for_loop(zero, n, order, |make, i| {
            let f = make.op(Scalar::Convert(DType::F64), &[i]);
            let t = make.op(Scalar::Call(LaneFunction::Sin), &[x]);
            make.assign(x, Scalar::Add, &[t, f]);
            let two = make.int(2);
            let half = make.op(Scalar::Div, &[i, two]);
            let even = make.op(Scalar::Mul, &[half, two]);
            let even = make.op(Scalar::Eq, &[even, i]);
            make.branch(even, |make| make.assign(y, Scalar::Mul, &[y, x]), |make| make.push(Stmt::Swap(x, y)));
            make.for_loop(i, n, Order::Up, |make, _| make.assign(y, Scalar::Sub, &[y, t]));
        });
    }
    let trips = make.int(0);
    make.endless(|make| {
        make.assign(trips, Scalar::Add, &[trips, one]);
        let far = make.op(Scalar::Ge, &[trips, n]);
        make.branch(far, |make| make.push(Stmt::Leave), |make| make.assign(x, Scalar::Call(LaneFunction::Tanh), &[x]));
    });
    let f = make.op(Scalar::Convert(DType::F64), &[trips]);
    x = make.op(Scalar::Add, &[x, f]);
    make.store(at(to, 0), x);
    make.store(at(to, 8), y);
    let kernel = make.finish();
    for n in [-3, 0, 1, 2, 9] {
        check(&kernel, &[&Array::int(n)], &[Type::f64([2])]);
    }
}

#[test]
fn copies_and_zeros_of_every_size_agree() {
    for bytes in (0..=70).chain([128, 1000]) {
        let mut make = Make::new(2048);
        let (x, arena, to) =
            (make.pointer(Place::Input(0)), make.pointer(Place::Arena(8)), make.pointer(Place::Output(0)));
        make.push(Stmt::Zero { to: at(to, 0), bytes: 2048 });
        make.push(Stmt::Copy { to: at(arena, 0), from: at(x, 0), bytes: 1024 });
        make.push(Stmt::Zero { to: at(arena, 3), bytes });
        make.push(Stmt::Copy { to: at(to, 0), from: at(arena, 0), bytes: 1024 });
        make.push(Stmt::Copy { to: at(to, 1024), from: at(x, 8), bytes });
        make.push(Stmt::Copy { to: at(to, 1024), from: at(to, 1024), bytes });
        check(&make.finish(), &[&numbers(256, 8)], &[Type::f64([256])]);
    }
}

#[test]
fn literals_offsets_and_moves_agree() {
    let mut make = Make::new(0);
    make.kernel.literals.push(Array::f64([3], vec![1.0, 2.0, 3.0]));
    make.kernel.literals.push(Array::new([2], Data::Bool(vec![true, false])));
    let (table, flags, to) =
        (make.pointer(Place::Literal(0)), make.pointer(Place::Literal(1)), make.pointer(Place::Output(0)));
    let (moved, two) = (make.pointer(Place::Literal(0)), make.int(2));
    make.push(Stmt::Offset { dst: moved, address: along(table, two, 8) });
    let x = make.load(DType::F64, at(moved, -8));
    let y = make.float(0.0);
    make.push(Stmt::Move { dst: y, src: x });
    let flag = make.load(DType::Bool, at(flags, 0));
    let z = make.op(Scalar::Select, &[flag, y, x]);
    make.store(at(to, 0), z);
    make.store(at(to, 8), y);
    let outputs = check(&make.finish(), &[], &[Type::f64([2])]);
    assert_eq!(outputs[0].as_f64(), [2.0, 2.0]);
}

#[test]
fn the_first_fault_is_reported() {
    let mut make = Make::new(0);
    let x = make.pointer(Place::Input(0));
    let x = make.load(DType::I64, at(x, 0));
    for site in [2, 1, 0] {
        let bound = make.int(i64::from(site));
        let cond = make.op(Scalar::Gt, &[x, bound]);
        make.push(Stmt::Fault { cond, site });
    }
    let kernel = make.finish();
    for x in 0..5 {
        check(&kernel, &[&Array::int(x)], &[]);
    }
    let pos = Pos::new("model.py", 7);
    let fault = Fault { kind: ErrorKind::DivisionByZero, pos: pos.clone(), message: "x / 0".to_owned() };
    let executable =
        executable(&Backend::Cranelift, &kernel, vec![Type::scalar(DType::I64)], vec![], vec![fault; 3]).unwrap();
    let error = executable.run(&[&Array::int(1)]).unwrap_err();
    assert_eq!((error.kind, error.pos), (ErrorKind::DivisionByZero, pos));
}

#[test]
fn wrong_arguments_say_what_was_expected() {
    let executable =
        executable(&Backend::Cranelift, &Make::new(0).finish(), vec![Type::f64([2])], vec![], vec![]).unwrap();
    let error = executable.run(&[]).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Argument, "expected 1 inputs, found 0"));
    let error = executable.run(&[&Array::int(1)]).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Argument, "input 0: expected f64[2], found i64"));
}

#[test]
fn machine_code_follows_a_schedule() {
    let schedules: [fn(Sweep, u64) -> Schedule; 4] = [
        |sweep, n| Schedule::of(Recipe::keep_all(n, sweep, 8, 16)),
        |sweep, n| Schedule::of(Recipe::periodic(4, n, sweep, 8, 16)),
        |_, _| Schedule::Revolve { slots: 3, state_bytes: 8 },
        |_, _| Schedule::Blocks(Blocks { steps: 3, record_bytes: 16, slots: 3, state_bytes: 8 }),
    ];
    for (schedule, sweep) in
        schedules.into_iter().flat_map(|schedule| [Sweep::Split, Sweep::Joint].map(|sweep| (schedule, sweep)))
    {
        for n in [0, 1, 2, 7, 40] {
            let schedule = schedule(sweep, n);
            let mut make = Make::new(8 * schedule.words() + 16);
            let (count, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Output(0)));
            make.push(Stmt::Zero { to: at(to, 0), bytes: 8 * 5 * 2000 });
            let count = make.load(DType::I64, at(count, 0));
            let (words, again) = (make.pointer(Place::Arena(16)), make.pointer(Place::Arena(8)));
            let table = Array::new([schedule.table().len()], Data::I64(schedule.table()));
            let table = (!table.is_empty()).then(|| {
                make.kernel.literals.push(table);
                make.pointer(Place::Literal(0))
            });
            make.push(Stmt::Start { words: at(words, 0), schedule: schedule.clone(), sweep, count, table });
            let row = make.int(0);
            make.endless(|make| {
                let dst = [(); 5].map(|()| make.reg(DType::I64));
                make.push(Stmt::Next { words: at(again, 8), schedule: schedule.clone(), table, dst });
                for (k, word) in (0..).zip(dst) {
                    make.store(Address { base: to, terms: vec![(row, 40)], offset: 8 * k }, word);
                }
                let one = make.int(1);
                make.assign(row, Scalar::Add, &[row, one]);
                let done = make.int(ActionCode::Done as i64);
                let done = make.op(Scalar::Eq, &[dst[0], done]);
                make.branch(done, |make| make.push(Stmt::Leave), |_| {});
            });
            check(&make.finish(), &[&Array::int(n as i64)], &[Type::new(DType::I64, [5 * 2000])]);
        }
    }
}

#[test]
fn executables_run_on_several_threads_at_once() {
    let mut make = Make::new(8192);
    let (x, arena, to) = (make.pointer(Place::Input(0)), make.pointer(Place::Arena(0)), make.pointer(Place::Output(0)));
    make.for_vec(1000, |make, index| {
        let x = make.load(DType::F64, along(x, index, 8));
        let y = make.op(Scalar::Call(LaneFunction::Exp), &[x]);
        make.store(along(arena, index, 8), y);
        vec![]
    });
    make.push(Stmt::Copy { to: at(to, 0), from: at(arena, 0), bytes: 8000 });
    let kernel = make.finish();
    for backend in backends() {
        let executable =
            executable(backend, &kernel, vec![Type::f64([1000])], vec![Type::f64([1000])], vec![]).unwrap();
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let executable = &executable;
                scope.spawn(move || {
                    let x = numbers(1000, seed);
                    for _ in 0..100 {
                        let (outputs, _) = executable.run(&[&x]).unwrap();
                        assert!(
                            outputs[0]
                                .as_f64()
                                .iter()
                                .zip(x.as_f64())
                                .all(|(y, x)| *y == retrograd_compiler::ops::lanes::exp(*x))
                        );
                    }
                });
            }
        });
    }
}

/// Steps that add to places where others add too, and one that only some reach last: in the order of steps and of
/// statements.
#[test]
fn writes_in_turn_are_those_of_one_step_after_the_other() {
    for count in counts() {
        for calls in [false, true] {
            let mut make = Make::new(0);
            let (x, places) = (make.pointer(Place::Input(0)), make.pointer(Place::Input(1)));
            let (sums, last) = (make.pointer(Place::Output(0)), make.pointer(Place::Output(1)));
            for to in [sums, last] {
                make.push(Stmt::Zero { to: at(to, 0), bytes: 48 });
            }
            make.for_vec(count, |make, index| {
                let value = make.load(DType::F64, along(x, index, 8));
                let place = make.load(DType::I64, along(places, index, 8));
                let value = if calls { make.op(Scalar::Call(LaneFunction::Exp), &[value]) } else { value };
                let product = make.op(Scalar::Mul, &[value, value]);
                let turn = |base: Reg, offset: i64, op: Option<Scalar>, src: Reg| OrderedWrite {
                    to: Address { base, terms: vec![(place, 8)], offset },
                    op,
                    src,
                };
                make.push(Stmt::OrderedScatter(vec![
                    turn(sums, 0, Some(Scalar::Add), value),
                    turn(sums, 8, Some(Scalar::Add), product),
                    turn(last, 0, None, value),
                ]));
                vec![]
            });
            let places = ints((0..count.max(1) as i64).map(|k| k * k % 5).collect());
            check(&make.finish(), &[&numbers(count.max(1), 7), &places], &[Type::f64([6]), Type::f64([6])]);
        }
    }
}
