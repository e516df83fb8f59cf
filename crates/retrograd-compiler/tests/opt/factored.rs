//! A step backwards over numbers as one sum of products gives what the step gives, also where its products are no
//! numbers.

use super::*;
use retrograd_compiler::opt::freeze;

/// Steps back over numbers of any size: bwd is what a test says, of cotangents %a and %b and of %p, %q and %r.
fn unwound(bwd: &str) -> Program {
    let text = format!(
        "fn main(%n: i64, %x: f64, %y: f64, %p: f64, %q: f64, %r: f64, %a: f64, %b: f64) -> f64, f64 {{
  %da: f64, %db: f64 = unwind %n carries(%x, %y) invariants(%p, %q, %r) adjoints(%a, %b) {{body=step, bwd=back}}
  return %da, %db
}}
fn step(%i: i64, %x: f64, %y: f64, %p: f64, %q: f64, %r: f64) -> f64, f64 {{
  return %x, %y
}}
fn back(%i: i64, %x: f64, %y: f64, %p: f64, %q: f64, %r: f64, %a: f64, %b: f64) -> f64, f64 {{
{bwd}}}
"
    );
    ops::parse(&text, "unwound.rg").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A number with an exponent that is never too large or too small.
#[derive(Clone, Copy, Debug)]
struct Wide(f64, i32);

impl Wide {
    fn of(x: f64) -> Wide {
        let large = x.abs() < 1e-150;
        let (x, start) = if large { (x * 2f64.powi(600), -600) } else { (x, 0) };
        let exponent = if x == 0.0 { 0 } else { x.abs().log2().floor() as i32 };
        Wide(x / 2f64.powi(exponent), start + exponent)
    }

    fn number(self) -> f64 {
        self.0 * 2f64.powi(self.1.clamp(-1040, 0)) * 2f64.powi(self.1.clamp(0, 1020))
    }
}

impl std::ops::Mul for Wide {
    type Output = Wide;
    fn mul(self, other: Wide) -> Wide {
        let product = Wide::of(self.0 * other.0);
        Wide(product.0, product.1 + self.1 + other.1)
    }
}

impl std::ops::Add for Wide {
    type Output = Wide;
    fn add(self, other: Wide) -> Wide {
        let [large, small] =
            if self.0 == 0.0 || (other.0 != 0.0 && other.1 > self.1) { [other, self] } else { [self, other] };
        let apart = if small.0 == 0.0 { -200 } else { (small.1 - large.1).max(-200) };
        let sum = Wide::of(large.0 + small.0 * 2f64.powi(apart));
        Wide(sum.0, sum.1 + large.1)
    }
}

impl std::ops::Neg for Wide {
    type Output = Wide;
    fn neg(self) -> Wide {
        Wide(-self.0, self.1)
    }
}

type Step = (&'static str, fn(Wide, Wide, Wide, Wide, Wide) -> Wide);

/// Steps that become sums of products, all of them, and the first cotangent that they give.
const STEPS: [Step; 6] = [
    ("  %1: f64 = mul %a, %p\n  %2: f64 = mul %1, %q\n  %3: f64 = mul %2, %r\n  return %3, %b\n", |p, q, r, a, _| {
        a * p * q * r
    }),
    // As of the logistic map.
    (
        "  %1: f64 = mul %a, %p\n  %2: f64 = mul %1, %q\n  %3: f64 = mul %a, %r\n  %4: f64 = sub %2, %3\n  return %4, \
         %b\n",
        |p, q, r, a, _| a * p * q + -(a * r),
    ),
    (
        "  %1: f64 = mul %a, %p\n  %2: f64 = add %1, %b\n  %3: f64 = mul %2, %q\n  %4: f64 = mul %3, %p\n  return %4, \
         %b\n",
        |p, q, _, a, b| (a * p + b) * q * p,
    ),
    (
        "  %1: f64 = add %a, %b\n  %2: f64 = mul %1, %p\n  %3: f64 = mul %2, %q\n  %4: f64 = mul %r, %3\n  return %4, \
         %4\n",
        |p, q, r, a, b| (a + b) * p * q * r,
    ),
    (
        "  %1: f64 = mul %a, %p\n  %2: f64 = mul %a, %q\n  %3: f64 = add %1, %2\n  %4: f64 = mul %3, %r\n  return %4, \
         %b\n",
        |p, q, r, a, _| a * (p + q) * r,
    ),
    (
        "  %1: f64 = mul %a, %p\n  %2: f64 = mul %b, %r\n  %3: f64 = sub %2, %1\n  %4: f64 = mul %3, %q\n  %5: f64 = \
         mul %4, %p\n  return %5, %b\n",
        |p, q, r, a, b| (b * r + -(a * p)) * q * p,
    ),
];

/// Numbers whose products are beyond the range of floats, in both directions, and others; of few bits, so that nothing
/// is rounded that is within.
fn sizes() -> [f64; 7] {
    [0.0, -0.75, 2f64.powi(660), 2f64.powi(-660), -2f64.powi(-530), 2f64.powi(1000), -2f64.powi(1000)]
}

#[test]
fn a_sum_of_products_is_right_wherever_the_step_is() {
    let sizes = sizes();
    for (step, exact) in STEPS {
        let program = unwound(step);
        let frozen = freeze(&program);
        assert!(
            frozen.functions.iter().any(|function| function.insts.iter().any(|inst| matches!(inst.op, Op::If(_)))),
            "{frozen}"
        );
        let mut right = 0;
        for number in 0..sizes.len().pow(5) {
            let at = |place: u32| sizes[number / sizes.len().pow(place) % sizes.len()];
            let [p, q, r, a, b] = [0, 1, 2, 3, 4].map(at);
            let exact = exact(Wide::of(p), Wide::of(q), Wide::of(r), Wide::of(a), Wide::of(b)).number();
            let numbers = [0.0, 0.0, p, q, r, a, b].map(Array::scalar);
            let inputs = [&[Array::int(1)], numbers.as_slice()].concat();
            let [plain, factored] = [&program, &frozen].map(|program| run(program, &inputs).unwrap()[0].as_f64()[0]);
            let is_right = |x: f64| (x - exact).abs() <= 1e-12 * exact.abs() + 1e-300;
            assert!(
                !is_right(plain) || is_right(factored),
                "{exact}, as the step gives, became {factored} by {inputs:?} of\n{step}"
            );
            right += usize::from(is_right(plain));
        }
        assert!(right > 100, "{right}");
    }
}

#[test]
fn the_step_and_its_sum_agree_where_both_are_tame() {
    let inputs = [&[Array::int(3)], [0.0, 0.0, 0.7, -0.4, 0.9, 1.5, 0.3].map(Array::scalar).as_slice()].concat();
    for (step, _) in STEPS {
        let program = unwound(step);
        let [plain, factored] =
            [&program, &freeze(&program)].map(|program| run(program, &inputs).unwrap()[0].as_f64()[0]);
        assert!((plain - factored).abs() <= 1e-14 * plain.abs(), "{plain} {factored} of\n{step}");
    }
}
