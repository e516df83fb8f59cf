//! What the tests share.

use retrograd_expr::{Expr, Function, Op};

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

pub(crate) const NAMES: [&str; 3] = ["x", "y", "z"];

/// A smooth expression, at most so deep, whose functions are defined near the points that are drawn.
pub(crate) fn smooth(random: &mut Random, depth: usize) -> Expr {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(4) {
            0 => Expr::number(random.below(7) as i64 - 3),
            _ => Expr::variable(NAMES[random.below(3)]),
        };
    }
    let a = smooth(random, depth - 1);
    let one = |function, a: Expr| Expr::new(Op::Call(function), vec![a]);
    let square = |a: &Expr| a * a;
    match random.below(32) {
        0..=2 => a + smooth(random, depth - 1),
        3 | 4 => a - smooth(random, depth - 1),
        5..=7 => a * smooth(random, depth - 1),
        8 => a / (square(&smooth(random, depth - 1)) + 1),
        9 => one(Function::Sin, a),
        10 => one(Function::Cos, a),
        11 => one(Function::Exp, one(Function::Tanh, a)),
        12 => one(Function::Log, square(&a) + 1),
        13 => one(Function::Sqrt, square(&a) + 2),
        14 => one(Function::Atan, a),
        15 => -a,
        16 => one(Function::Sin, a).pow(random.below(4) as i64),
        17 => (square(&a) + 1).pow(Expr::number(1) / 3),
        18 => one(Function::Sigmoid, a),
        19 => one(Function::Erf, one(Function::Tanh, a)),
        20 => Expr::call(Function::AtanTwo, [a, square(&smooth(random, depth - 1)) + 1]),
        21 => Expr::call(Function::Hypot, [a, square(&smooth(random, depth - 1)) + 1]),
        22 => one(Function::Asin, one(Function::Tanh, a) * 0.5),
        23 => one(Function::Acosh, square(&a) + 2),
        24 => one(Function::Atanh, one(Function::Sin, a) * 0.5),
        25 => one([Function::LogOnePlus, Function::LogTwo, Function::LogTen][random.below(3)], square(&a) + 1),
        26 => one(
            [Function::Expm, Function::ExpTwo, Function::Sinh, Function::Cosh, Function::Erfc][random.below(5)],
            one(Function::Sin, a),
        ),
        27 => one(Function::Cbrt, square(&a) + 1),
        28 => Expr::call([Function::Min, Function::Max][random.below(2)], [a, smooth(random, depth - 1)]),
        29 => one(Function::Abs, a),
        30 => (square(&a) + 1).pow(one(Function::Sin, smooth(random, depth - 1))),
        _ => {
            let test = Expr::call(Function::Lt, [a.clone(), smooth(random, depth - 1)]);
            Expr::call(Function::Select, [test, a, smooth(random, depth - 1)])
        }
    }
}
