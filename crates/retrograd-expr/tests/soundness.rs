//! A hunt for unsound simplification: random expressions of everything that has a domain, a sign or a jump, under
//! random assumptions.
//!
//! `RETROGRAD_HUNT=20000 cargo test --release -p retrograd-expr --test all soundness::` runs longer;
//! `RETROGRAD_HUNT_SEED` begins elsewhere.

use std::collections::BTreeMap;

use retrograd_expr::{
    Assumptions, Constant, Cost, Expr, Function, Limits, Op, Simplifier, canonicalize, collect, expand,
};

use crate::support::Random;

/// What a variable may be.
#[derive(Clone, Copy, Debug)]
struct Known {
    text: &'static str,
    fits: fn(f64) -> bool,
}

const KNOWN: [Known; 12] = [
    Known { text: "", fits: |_| true },
    Known { text: "", fits: |_| true },
    Known { text: "V > 0", fits: |x| x > 0.0 },
    Known { text: "V >= 0", fits: |x| x >= 0.0 },
    Known { text: "V < 0", fits: |x| x < 0.0 },
    Known { text: "V <= 0", fits: |x| x <= 0.0 },
    Known { text: "V != 0", fits: |x| x != 0.0 },
    Known { text: "-1 <= V and V <= 1", fits: |x| x.abs() <= 1.0 },
    Known { text: "V > 1", fits: |x| x > 1.0 },
    Known { text: "V < 1", fits: |x| x < 1.0 },
    Known { text: "integer(V)", fits: |x| x.fract() == 0.0 },
    Known { text: "integer(V) and V >= 0", fits: |x| x.fract() == 0.0 && x >= 0.0 },
];

/// Points of every sign, integers, halves, and numbers near 0 and 1; exact in floats.
const SAMPLES: [f64; 19] =
    [-5.0, -3.0, -2.0, -1.5, -1.0, -0.75, -0.5, -0.125, 0.0, 0.125, 0.25, 0.5, 0.875, 1.0, 1.25, 2.0, 2.5, 3.0, 7.0];

const NAMES: [&str; 3] = ["x", "y", "n"];

fn expression(random: &mut Random, depth: usize) -> Expr {
    if depth == 0 || random.below(6) == 0 {
        return match random.below(12) {
            0 => Expr::number(0),
            1 => Expr::number(1),
            2 => Expr::number(-1),
            3 => Expr::number(2),
            4 => Expr::number([3, -2, -3, 4][random.below(4)]),
            5 => Expr::number([1, -1, 3, 1, 2, -1][random.below(6)]) / [2, 2, 2, 3, 3, 4][random.below(6)],
            6 => Expr::constant([Constant::Pi, Constant::E][random.below(2)]),
            _ => Expr::variable(NAMES[random.below(3)]),
        };
    }
    const ONE: [Function; 29] = [
        Function::Sqrt,
        Function::Sqrt,
        Function::Sqrt,
        Function::Log,
        Function::Log,
        Function::Exp,
        Function::Exp,
        Function::Abs,
        Function::Abs,
        Function::Abs,
        Function::Neg,
        Function::Neg,
        Function::Sign,
        Function::Floor,
        Function::Ceil,
        Function::Round,
        Function::Trunc,
        Function::Sin,
        Function::Cos,
        Function::Tan,
        Function::Asin,
        Function::Acos,
        Function::Cbrt,
        Function::LogOnePlus,
        Function::Expm,
        Function::Acosh,
        Function::Atanh,
        Function::Tanh,
        Function::Atan,
    ];
    const OFTEN: [Function; 12] = [
        Function::Add,
        Function::Add,
        Function::Sub,
        Function::Sub,
        Function::Mul,
        Function::Mul,
        Function::Mul,
        Function::Div,
        Function::Div,
        Function::Min,
        Function::Max,
        Function::AtanTwo,
    ];
    match random.below(20) {
        0..=5 => Expr::new(Op::Call(ONE[random.below(ONE.len())]), vec![expression(random, depth - 1)]),
        6..=8 => {
            let exponents = ["2", "3", "-1", "-2", "1/2", "-1/2", "1/3", "3/2", "0", "n", "x", "2*n", "y + 1"];
            let exponent = Expr::parse(exponents[random.below(exponents.len())]).unwrap();
            expression(random, depth - 1).pow(exponent)
        }
        9 => {
            const TESTS: [Function; 6] =
                [Function::Lt, Function::Le, Function::Gt, Function::Ge, Function::Eq, Function::Ne];
            let parts: Vec<Expr> = (0..4).map(|_| expression(random, depth - 1)).collect();
            let test = Expr::new(Op::Call(TESTS[random.below(6)]), parts[..2].to_vec());
            Expr::call(Function::Select, [test, parts[2].clone(), parts[3].clone()])
        }
        10 | 11 => related(random, depth),
        _ => {
            let function = OFTEN[random.below(OFTEN.len())];
            Expr::new(Op::Call(function), vec![expression(random, depth - 1), expression(random, depth - 1)])
        }
    }
}

/// The sides of laws that tempt: what cancels, undoes or repeats a part.
fn related(random: &mut Random, depth: usize) -> Expr {
    let forms = [
        "a/a",
        "a - a",
        "a*b/b",
        "sqrt(a)^2",
        "sqrt(a^2)",
        "sqrt(a)*sqrt(a)",
        "exp(log(a))",
        "log(exp(a))",
        "log(a*b)",
        "log(a) + log(b)",
        "log(a/b)",
        "log(a) - log(b)",
        "log(a^2)",
        "log(a^b)",
        "(a^2)^(1/2)",
        "(a^b)^2",
        "(a^2)^b",
        "a^b*a",
        "a^b/a",
        "a^b*a^(-b)",
        "(a*b)^(1/2)",
        "sqrt(a*b)",
        "sqrt(a/b)",
        "sqrt(a)*sqrt(b)",
        "sqrt(a)/sqrt(b)",
        "abs(a)*abs(b)",
        "abs(a*b)",
        "abs(a)/a",
        "a/abs(a)",
        "a*sign(a)",
        "sign(a)*abs(a)",
        "1/(1/a)",
        "0*a",
        "0/a",
        "a^0",
        "a^1",
        "min(a, a)",
        "max(a, b) + min(a, b)",
        "max(a, -a)",
        "if(a > b, a, a)",
        "if(a > 0, a, -a)",
        "sin(asin(a))",
        "asin(sin(a))",
        "cos(acos(a))",
        "tan(atan(a))",
        "atan(tan(a))",
        "acosh(cosh(a))",
        "cosh(acosh(a))",
        "sin(a)/cos(a)",
        "sin(a)^2 + cos(a)^2",
        "1 - cos(a)^2",
        "floor(a) + ceil(-a)",
        "floor(a + 1)",
        "floor(floor(a))",
        "a - floor(a)",
        "a/b*b",
        "a/b/c",
        "(a/b)^n",
        "(a*b)^n",
        "1/a^n",
        "a^n*a",
        "a^(-n)",
        "atan2(a, b)",
        "atan2(0, a)",
        "atan2(a, a)",
        "a^(1/3)",
        "cbrt(a)^3",
        "cbrt(a^3)",
        "log1p(expm1(a))",
        "expm1(log1p(a))",
        "log(1 + a)",
        "exp(a)*exp(-a)",
        "exp(a)^b",
        "hypot(a, 0)",
        "a^2/a",
        "a/a^2",
        "e^log(a)",
        "(-a)^n",
        "(-a)^2",
        "abs(a)^b",
        "sqrt(a) - sqrt(b)",
        "sqrt(a^2*b)",
        "a == a",
        "tanh(atanh(a))",
        "atanh(tanh(a))",
        "round(a) - a",
    ];
    let form = forms[random.below(forms.len())];
    let form = if form == "a == a" { "if(a == a, 1, 2)" } else { form };
    let part = |random: &mut Random| expression(random, depth.min(2) - 1);
    let with = [("a", part(random)), ("b", part(random)), ("c", part(random))];
    Expr::parse(form).unwrap().substitute(&with)
}

/// An evaluation in which every rounded result is disturbed by a few units in its last places: what depends on those
/// digits shows.
struct Disturbed<'a> {
    at: &'a BTreeMap<&'static str, f64>,
    noise: Random,
    size: f64,
    /// Whether a comparison was of numbers that differ by rounding at most.
    close: bool,
}

impl Disturbed<'_> {
    fn rounded(&mut self, x: f64) -> f64 {
        x * (1.0 + self.size * (self.noise.unit() - 0.5))
    }

    /// The value as a partial function of real numbers: `None` where it is not defined; of `if`, only the side that is
    /// taken.
    fn value(&mut self, expr: &Expr) -> Option<f64> {
        let found = match expr.op() {
            Op::Number(x) => x.to_f64(),
            Op::Constant(constant) => constant.to_f64(),
            Op::Variable(name) => self.at[&**name],
            Op::Call(Function::Select) => {
                let side = if self.value(&expr.args()[0])? != 0.0 { 1 } else { 2 };
                self.value(&expr.args()[side])?
            }
            Op::Call(function) => {
                let args = expr.args().iter().map(|arg| self.value(arg)).collect::<Option<Vec<f64>>>()?;
                if function.gives_truth() && args.len() == 2 {
                    self.close |=
                        args[0] != args[1] && (args[0] - args[1]).abs() <= 1e-9 * args[0].abs().max(args[1].abs());
                }
                let (value, exact) = applied(*function, &args)?;
                if exact { value } else { self.rounded(value) }
            }
            Op::Array(_) | Op::Einsum(_) | Op::Stack | Op::Index | Op::Fold(..) | Op::StopGradient | Op::Custom(_) => {
                unreachable!("expressions of numbers are generated")
            }
        };
        // Real numbers have one zero.
        found.is_finite().then_some(found + 0.0)
    }
}

/// A function of numbers, and whether its float is the number itself; `None` outside of its domain.
fn applied(function: Function, args: &[f64]) -> Option<(f64, bool)> {
    use Function as F;
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(0.0);
    let truth = |holds: bool| Some((f64::from(u8::from(holds)), true));
    let at = |value: f64, exact: bool| Some((value, exact));
    match function {
        F::Add | F::Sub => {
            let b = if function == F::Add { b } else { -b };
            let sum = a + b;
            let part = sum - a;
            at(sum, (a - (sum - part)) + (b - part) == 0.0)
        }
        F::Mul => at(a * b, f64::mul_add(a, b, -(a * b)) == 0.0 && a * b != 0.0 || a == 0.0 || b == 0.0),
        F::Div if b == 0.0 => None,
        F::Div => at(a / b, f64::mul_add(a / b, b, -a) == 0.0),
        F::Neg => at(-a, true),
        F::Pow if a == 0.0 && b < 0.0 || a < 0.0 && b.fract() != 0.0 => None,
        F::Pow => {
            let value = a.powf(b);
            at(
                value,
                a == 0.0
                    || a == 1.0
                    || b == 0.0
                    || b == 1.0
                    || (b.fract() == 0.0 && value.abs() < 1e9 && value.fract() == 0.0 && a.fract() == 0.0),
            )
        }
        F::Sqrt if a < 0.0 => None,
        F::Sqrt => at(a.sqrt(), f64::mul_add(a.sqrt(), a.sqrt(), -a) == 0.0),
        F::Cbrt => at(a.cbrt(), a.cbrt().fract() == 0.0 && a.cbrt().powi(3) == a),
        F::Log | F::LogTwo | F::LogTen if a <= 0.0 => None,
        F::Log => at(a.ln(), a == 1.0),
        F::LogTwo => at(a.log2(), a == 1.0),
        F::LogTen => at(a.log10(), a == 1.0),
        F::LogOnePlus if a <= -1.0 => None,
        F::LogOnePlus => at(a.ln_1p(), a == 0.0),
        F::Exp => at(a.exp(), a == 0.0),
        F::ExpTwo => at(a.exp2(), a.fract() == 0.0),
        F::Expm => at(a.exp_m1(), a == 0.0),
        F::Abs => at(a.abs(), true),
        F::Sign => at(
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                0.0
            },
            true,
        ),
        F::Floor => at(a.floor(), true),
        F::Ceil => at(a.ceil(), true),
        F::Round => at(a.round_ties_even(), true),
        F::Trunc => at(a.trunc(), true),
        F::Sin => at(a.sin(), a == 0.0),
        F::Cos => at(a.cos(), a == 0.0),
        // Floats never meet a pole of the tangent.
        F::Tan if a.cos().abs() < 1e-9 => None,
        F::Tan => at(a.tan(), a == 0.0),
        F::Asin | F::Acos if a.abs() > 1.0 => None,
        F::Asin => at(a.asin(), a == 0.0),
        F::Acos => at(a.acos(), a == 1.0),
        F::Atan => at(a.atan(), a == 0.0),
        F::AtanTwo => at(a.atan2(b), a == 0.0 && b >= 0.0),
        F::Sinh => at(a.sinh(), a == 0.0),
        F::Cosh => at(a.cosh(), a == 0.0),
        F::Tanh => at(a.tanh(), a == 0.0),
        F::Asinh => at(a.asinh(), a == 0.0),
        F::Acosh if a < 1.0 => None,
        F::Acosh => at(a.acosh(), a == 1.0),
        F::Atanh if a.abs() >= 1.0 => None,
        F::Atanh => at(a.atanh(), a == 0.0),
        F::Hypot => at(a.hypot(b), a == 0.0 || b == 0.0),
        F::Sigmoid => at(1.0 / (1.0 + (-a).exp()), a == 0.0),
        F::Min => at(a.min(b), true),
        F::Max => at(a.max(b), true),
        F::Lt => truth(a < b),
        F::Le => truth(a <= b),
        F::Gt => truth(a > b),
        F::Ge => truth(a >= b),
        F::Eq => truth(a == b),
        F::Ne => truth(a != b),
        F::And => truth(a != 0.0 && b != 0.0),
        F::Or => truth(a != 0.0 || b != 0.0),
        F::Not => truth(a == 0.0),
        F::Select | F::Erf | F::Erfc => unreachable!("handled above, or not generated"),
    }
}

/// The value at a point, or that it is not defined there; `None` where rounding decides.
fn judged(expr: &Expr, at: &BTreeMap<&'static str, f64>) -> Option<Option<f64>> {
    let mut close = false;
    let runs: Vec<Option<f64>> = (0..4)
        .map(|seed| {
            let mut run =
                Disturbed { at, noise: Random(seed), size: if seed == 0 { 0.0 } else { 1e-12 }, close: false };
            let value = run.value(expr);
            close |= run.close;
            value
        })
        .collect();
    let first = runs[0];
    let steady = runs.iter().all(|run| match (first, run) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-7 * a.abs().max(1e-3),
        (None, None) => true,
        _ => false,
    });
    // Numbers that floats hardly hold are no judges.
    let moderate = first.is_none_or(|x| x == 0.0 || (1e-100..1e100).contains(&x.abs()));
    (steady && moderate && !close).then_some(first)
}

fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1e-3),
        (None, None) => true,
        _ => false,
    }
}

/// Looks for a point that the assumptions allow at which two forms differ.
fn difference(a: &Expr, b: &Expr, known: [Known; 3]) -> Option<String> {
    let samples = |known: Known| SAMPLES.into_iter().filter(move |x| (known.fits)(*x)).collect::<Vec<f64>>();
    let [xs, ys, ns] = known.map(samples);
    for (k, x) in xs.iter().enumerate() {
        for (l, y) in ys.iter().enumerate() {
            // All pairs of x and y; n goes round.
            let n = ns[(k * 7 + l * 3) % ns.len()];
            let at = BTreeMap::from([("x", *x), ("y", *y), ("n", n)]);
            let (Some(before), Some(after)) = (judged(a, &at), judged(b, &at)) else { continue };
            if !same(before, after) {
                return Some(format!("at {at:?}: {before:?} and {after:?}"));
            }
        }
    }
    None
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn no_simplification_changes_a_value_or_a_domain() {
    let (count, start) = (from_environment("RETROGRAD_HUNT", 150), from_environment("RETROGRAD_HUNT_SEED", 1));
    let (mut wrong, mut changed) = (vec![], 0);
    for seed in start..start + count {
        let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let depth = 2 + random.below(3);
        let expr = expression(&mut random, depth);
        let known: [Known; 3] = std::array::from_fn(|_| KNOWN[random.below(KNOWN.len())]);
        let texts: Vec<String> = known
            .iter()
            .zip(NAMES)
            .map(|(known, name)| known.text.replace('V', name))
            .filter(|text| !text.is_empty())
            .collect();
        let assumptions = texts.iter().fold(Assumptions::new(), |all, text| all.assume(text).unwrap());
        let cost = [Cost::Size, Cost::Depth, Cost::Work][random.below(3)];
        let simplifier = Simplifier { assumptions, cost, limits: Limits { nodes: 2_000, iterations: 7 } };
        let simple = match simplifier.simplify(&expr) {
            Ok(simple) => simple,
            Err(error) => {
                wrong.push(format!("seed {seed}: {expr} where {texts:?}: {error}"));
                continue;
            }
        };
        changed += usize::from(simple != expr);
        for (what, form) in [
            ("simplify", &simple),
            ("expand", &expand(&expr)),
            ("collect", &collect(&expr, "x")),
            ("canonicalize", &canonicalize(&expr)),
        ] {
            if let Some(found) = difference(&expr, form, known) {
                wrong.push(format!("seed {seed}: {what} made of {expr} where {texts:?}: {form}\n    {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(changed * 3 > count as usize, "simplification changes more than a third: {changed} of {count}");
}
