//! Random kernels, natively and by the interpreter, bit for bit.

use crate::support::check;
use crate::support::make::{BINARY, Make, UNARY, at};
use retrograd_compiler::ir::{Array, DType, Data, Reduction, Scalar, Type};
use retrograd_compiler::lower::kernel::{Address, Kernel, Order, Place, Reg, Stmt};

/// Rows of a buffer; vector loops run over at most so many.
const ROWS: u64 = 700;

/// Arrays of `ROWS` rows in the arena, of f64; beyond them lies one of bool.
const ARRAYS: u64 = 4;

#[test]
fn random_kernels_agree() {
    for seed in 0..400 {
        let mut random = Random(seed * 2 + 1);
        let kernel = kernel(&mut random);
        let input = input(&mut random);
        let table =
            Array::new([ROWS as usize], Data::I64((0..ROWS as i64).map(|_| random.below(ROWS) as i64).collect()));
        let run = || check(&kernel, &[&input, &table], &[Type::f64([(ARRAYS * ROWS) as usize]), Type::f64([SCALARS])]);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        assert!(result.is_ok(), "seed {seed}");
    }
}

/// Scalar registers that a kernel computes with.
const SCALARS: usize = 6;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

fn input(random: &mut Random) -> Array {
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-310, 1e308];
    let draw = |_| match random.below(40) {
        0 => random.pick(&special),
        _ => random.below(1 << 20) as f64 / f64::from(1 << 18) - 2.0,
    };
    Array::f64([ROWS as usize], (0..ROWS).map(draw).collect())
}

/// What statements can refer to.
struct World {
    /// Pointers to the arrays, two to each, so that they alias.
    arrays: Vec<Reg>,
    input: Reg,
    table: Reg,
    flags: Reg,
    scalars: Vec<Reg>,
    zero: Reg,
}

fn kernel(random: &mut Random) -> Kernel {
    let bytes = ARRAYS * ROWS * 8;
    let mut make = Make::new((bytes + ROWS) as usize);
    let arrays = (0..2 * ARRAYS).map(|k| make.pointer(Place::Arena(k % ARRAYS * ROWS * 8))).collect();
    let world = World {
        arrays,
        input: make.pointer(Place::Input(0)),
        table: make.pointer(Place::Input(1)),
        flags: make.pointer(Place::Arena(bytes)),
        scalars: (0..SCALARS).map(|k| make.float(k as f64 * 0.5 - 1.0)).collect(),
        zero: make.int(0),
    };
    make.push(Stmt::Zero { to: at(world.arrays[0], 0), bytes: bytes + ROWS });
    for &array in &world.arrays[..2] {
        make.push(Stmt::Copy { to: at(array, 0), from: at(world.input, 0), bytes: ROWS * 8 });
    }
    statements(&mut make, random, &world, 2);
    let (out, scalars) = (make.pointer(Place::Output(0)), make.pointer(Place::Output(1)));
    make.push(Stmt::Copy { to: at(out, 0), from: at(world.arrays[0], 0), bytes });
    for (k, &scalar) in (0..).zip(&world.scalars) {
        make.store(at(scalars, 8 * k), scalar);
    }
    make.finish()
}

fn statements(make: &mut Make, random: &mut Random, world: &World, depth: u32) {
    for _ in 0..2 + random.below(3) {
        match random.below(if depth == 0 { 6 } else { 10 }) {
            0 | 1 => {
                let (dst, a, b) =
                    (random.pick(&world.scalars), random.pick(&world.scalars), random.pick(&world.scalars));
                let value = arithmetic(make, random, &[a, b], &[]);
                make.push(Stmt::Move { dst, src: value });
            }
            2..=5 => vector(make, random, world),
            6 | 7 => {
                let to = make.int(random.below(4) as i64);
                let order = random.pick(&[Order::Up, Order::Down]);
                make.for_loop(world.zero, to, order, |make, index| {
                    let index = make.op(Scalar::Convert(DType::F64), &[index]);
                    make.assign(world.scalars[0], Scalar::Add, &[world.scalars[0], index]);
                    statements(make, random, world, depth - 1);
                });
            }
            _ => {
                let cond = make.op(Scalar::Lt, &[random.pick(&world.scalars), random.pick(&world.scalars)]);
                let (then, otherwise) = (random.below(1 << 30), random.below(1 << 30));
                make.branch(
                    cond,
                    |make| statements(make, &mut Random(2 * then + 1), world, depth - 1),
                    |make| statements(make, &mut Random(2 * otherwise + 1), world, depth - 1),
                );
            }
        }
    }
}

/// A vector loop that keeps the rules: each array is either only read, at any row, or read and written at the row of
/// the step.
fn vector(make: &mut Make, random: &mut Random, world: &World) {
    let counts = [1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 255, 256, 257, 511, 512, 513, ROWS];
    let count = if random.below(2) == 0 { random.pick(&counts) } else { 1 + random.below(ROWS) };
    let written = random.below(ARRAYS) as usize;
    let flags_written = random.below(2) == 0;
    let mut results = Vec::new();
    let reductions = make.for_vec_folds(count, |make, index| {
        let mut floats = world.scalars[..2].to_vec();
        let mut truths = Vec::new();
        for _ in 0..2 + random.below(12) {
            match random.below(10) {
                0..=2 => {
                    let value = read(make, random, world, index, count, written);
                    floats.push(value);
                }
                3..=6 => {
                    let (a, b) = (random.pick(&floats), random.pick(&floats));
                    let value = arithmetic(make, random, &[a, b], &truths);
                    floats.push(value);
                }
                7 => {
                    let op = random.pick(&[Scalar::Lt, Scalar::Le, Scalar::Gt, Scalar::Ge, Scalar::Eq, Scalar::Ne]);
                    let value = make.op(op, &[random.pick(&floats), random.pick(&floats)]);
                    truths.push(value);
                    if flags_written {
                        make.store(Address { base: world.flags, terms: vec![(index, 1)], offset: 0 }, value);
                    }
                }
                8 => {
                    let base = world.arrays[written + ARRAYS as usize * random.below(2) as usize];
                    make.store(Address { base, terms: vec![(index, 8)], offset: 0 }, random.pick(&floats));
                }
                _ => {
                    let terms = if flags_written {
                        vec![(index, 1)]
                    } else {
                        random.pick(&[&[(index, 1)][..], &[][..]]).to_vec()
                    };
                    let value = make.load(DType::Bool, Address { base: world.flags, terms, offset: 0 });
                    truths.push(value);
                }
            }
        }
        results = (0..random.below(3)).map(|_| random.pick(&floats)).collect();
        let kinds = [Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min];
        results.iter().map(|&result| (result, random.pick(&kinds))).collect()
    });
    for result in reductions {
        make.push(Stmt::Move { dst: random.pick(&world.scalars), src: result });
    }
}

/// Loads a float, from the step's own row where steps write.
fn read(make: &mut Make, random: &mut Random, world: &World, index: Reg, count: u64, written: usize) -> Reg {
    let which = random.below(2 * ARRAYS) as usize;
    let base = world.arrays[which];
    let own = vec![(index, 8)];
    if which % ARRAYS as usize == written {
        return make.load(DType::F64, Address { base, terms: own, offset: 0 });
    }
    let address = match random.below(6) {
        0 => at(base, 8 * random.below(ROWS) as i64),
        1 if count * 2 <= ROWS => Address { base, terms: vec![(index, 16)], offset: 8 },
        2 => Address { base, terms: vec![(index, -8)], offset: 8 * (count as i64 - 1) },
        3 => {
            let row = make.load(DType::I64, Address { base: world.table, terms: own, offset: 0 });
            Address { base, terms: vec![(row, 8)], offset: 0 }
        }
        4 => return make.op(Scalar::Convert(DType::F64), &[index]),
        _ => Address { base, terms: own, offset: 0 },
    };
    make.load(DType::F64, address)
}

/// A random op of floats (and, to choose, truth values).
fn arithmetic(make: &mut Make, random: &mut Random, floats: &[Reg], truths: &[Reg]) -> Reg {
    match random.below(8) {
        0..=2 => make.op(random.pick(&UNARY), &floats[..1]),
        3 if !truths.is_empty() => make.op(Scalar::Select, &[random.pick(truths), floats[0], floats[1]]),
        4 if truths.len() > 1 => {
            let op = random.pick(&[Scalar::And, Scalar::Or]);
            let truth = make.op(op, &[random.pick(truths), random.pick(truths)]);
            let truth = make.op(Scalar::Not, &[truth]);
            make.op(Scalar::Convert(DType::F64), &[truth])
        }
        5 => {
            let rounded = make.op(Scalar::Convert(DType::I64), &floats[..1]);
            let doubled = make.op(Scalar::Mul, &[rounded, rounded]);
            let divided = make.op(Scalar::Div, &[doubled, rounded]);
            make.op(Scalar::Convert(DType::F64), &[divided])
        }
        6 => make.op(random.pick(&[Scalar::Add, Scalar::Sub, Scalar::Mul, Scalar::Div]), floats),
        _ => make.op(random.pick(&BINARY), floats),
    }
}
