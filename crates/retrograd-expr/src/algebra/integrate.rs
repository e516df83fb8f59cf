//! Integrals by table: rational functions, functions of linear arguments, roots of quadratics, products with
//! polynomials by parts, products of exponentials with sines and cosines, and whatever becomes one of these with a part
//! of it as the variable.

use retrograd::{Error, ErrorKind, Pos};

use super::polynomial::{Polynomial, mentions, polynomial};
use super::rational;
use crate::dag::Dag;
use crate::derivative::diff;
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::Fraction;
use crate::tidy;

/// Integrals of powers of functions of a: ∫ f(a)ⁿ da.
const TABLE: &[(Function, i64, &str)] = &[
    (Function::Sin, 1, "-cos(a)"),
    (Function::Cos, 1, "sin(a)"),
    (Function::Tan, 1, "-log(abs(cos(a)))"),
    (Function::Sin, -1, "log(abs(tan(a/2)))"),
    (Function::Cos, -1, "log(abs((1 + sin(a))/cos(a)))"),
    (Function::Tan, -1, "log(abs(sin(a)))"),
    (Function::Sin, -2, "-cos(a)/sin(a)"),
    (Function::Cos, -2, "tan(a)"),
    (Function::Tan, 2, "tan(a) - a"),
    (Function::Exp, 1, "exp(a)"),
    (Function::ExpTwo, 1, "exp2(a)/log(2)"),
    (Function::Expm, 1, "exp(a) - a"),
    (Function::Sigmoid, 1, "a + log1p(exp(-a))"),
    (Function::Sinh, 1, "cosh(a)"),
    (Function::Cosh, 1, "sinh(a)"),
    (Function::Tanh, 1, "log(cosh(a))"),
    (Function::Sinh, -1, "log(abs(tanh(a/2)))"),
    (Function::Cosh, -1, "atan(sinh(a))"),
    (Function::Tanh, -1, "log(abs(sinh(a)))"),
    (Function::Sinh, -2, "-cosh(a)/sinh(a)"),
    (Function::Cosh, -2, "tanh(a)"),
    (Function::Tanh, 2, "a - tanh(a)"),
    (Function::Log, 1, "a*log(a) - a"),
    (Function::Log, 2, "a*log(a)^2 - 2*a*log(a) + 2*a"),
    (Function::Log, 3, "a*log(a)^3 - 3*a*log(a)^2 + 6*a*log(a) - 6*a"),
    (Function::LogTwo, 1, "(a*log(a) - a)/log(2)"),
    (Function::LogTen, 1, "(a*log(a) - a)/log(10)"),
    (Function::LogOnePlus, 1, "(1 + a)*log1p(a) - a"),
    (Function::Sqrt, 1, "2/3*a*sqrt(a)"),
    (Function::Cbrt, 1, "3/4*a*cbrt(a)"),
    (Function::Cbrt, -1, "3/2*cbrt(a)^2"),
    (Function::Abs, 1, "a*abs(a)/2"),
    (Function::Sign, 1, "abs(a)"),
    (Function::Asin, 1, "a*asin(a) + sqrt(1 - a^2)"),
    (Function::Acos, 1, "a*acos(a) - sqrt(1 - a^2)"),
    (Function::Atan, 1, "a*atan(a) - log(1 + a^2)/2"),
    (Function::Asinh, 1, "a*asinh(a) - sqrt(1 + a^2)"),
    (Function::Acosh, 1, "a*acosh(a) - sqrt(a^2 - 1)"),
    (Function::Atanh, 1, "a*atanh(a) + log(1 - a^2)/2"),
    (Function::Erf, 1, "a*erf(a) + exp(-a^2)/sqrt(pi)"),
    (Function::Erfc, 1, "a*erfc(a) - exp(-a^2)/sqrt(pi)"),
];

/// Changes of variable and parts inside of each other.
const DEPTH: usize = 6;
/// Parts of an integrand that are tried as the variable.
const CANDIDATES: usize = 12;

/// An antiderivative by a variable; what the table does not reach is refused.
///
/// ```
/// use retrograd_expr::{Expr, integrate};
/// let shown = |text: &str| -> Result<String, retrograd::Error> { Ok(integrate(&Expr::parse(text)?, "x")?.to_string()) };
/// assert_eq!(shown("3*x^2 + x/2")?, "x^3 + 1/4*x^2");
/// assert_eq!(shown("sin(2*x + 1)")?, "-(cos(2*x + 1)/2)");
/// assert_eq!(shown("x*exp(x)")?, "x*exp(x) - exp(x)");
/// assert_eq!(shown("x*exp(x^2)")?, "1/2*exp(x^2)");
/// assert_eq!(shown("1/(1 + x^2)")?, "atan(x)");
/// assert!(shown("exp(x^2)").is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
pub fn integrate(expr: &Expr, name: &str) -> Result<Expr, Error> {
    integral(expr, name, DEPTH).ok_or_else(|| {
        Error::new(ErrorKind::Unsupported, Pos::unknown(), format!("`{expr}` is not in the table of integrals"))
    })
}

fn integral(expr: &Expr, name: &str, depth: usize) -> Option<Expr> {
    if let Some(found) = rational::integral(expr, name) {
        return Some(found);
    }
    let mut sum = Expr::number(0);
    for (monomial, coefficient) in &polynomial(expr).terms {
        let mut term = Term::new(name);
        term.outside = Expr::number(*coefficient);
        for (atom, exponent) in monomial {
            term.times(atom, Fraction::integer(*exponent))?;
        }
        sum = tidy::add(&sum, &tidy::mul(&term.outside.clone(), &term.integral(depth)?));
    }
    Some(sum)
}

/// A product: what does not mention the variable, powers of bases, and one exponential.
#[derive(Clone)]
struct Term<'n> {
    name: &'n str,
    outside: Expr,
    factors: Vec<(Expr, Fraction)>,
    exponent: Expr,
}

impl<'n> Term<'n> {
    fn new(name: &'n str) -> Term<'n> {
        Term { name, outside: Expr::number(1), factors: vec![], exponent: Expr::number(0) }
    }

    fn times(&mut self, base: &Expr, power: Fraction) -> Option<()> {
        if !mentions(base, self.name) {
            self.outside = tidy::mul(&self.outside, &tidy::pow(base, &Expr::number(power)));
            return Some(());
        }
        match (base.op(), base.args()) {
            (Op::Call(Function::Mul), [a, b]) if power.as_integer().is_some() => {
                self.times(a, power)?;
                self.times(b, power)
            }
            (Op::Call(Function::Div), [a, b]) if power.as_integer().is_some() => {
                self.times(a, power)?;
                self.times(b, power.negated())
            }
            (Op::Call(Function::Neg), [a]) if power.as_integer().is_some() => {
                self.outside =
                    if power.as_integer()? % 2 == 0 { self.outside.clone() } else { tidy::neg(&self.outside) };
                self.times(a, power)
            }
            (Op::Call(Function::Sqrt), [a]) => self.times(a, power.times(Fraction::new(1, 2)?)?),
            (Op::Call(Function::Pow), [a, n]) if n.as_fraction().is_some() && (power.as_integer().is_some()) => {
                self.times(a, power.times(n.as_fraction()?)?)
            }
            // cᵘ = exp(u log c)
            (Op::Call(Function::Pow), [c, u]) if super::number(c).is_some_and(|c| c > 0.0) => {
                let log = tidy::call(Function::Log, vec![c.clone()]);
                self.raise(&tidy::mul(&Expr::number(power), &tidy::mul(&log, u)));
                Some(())
            }
            (Op::Call(Function::Exp), [u]) => {
                self.raise(&tidy::mul(&Expr::number(power), u));
                Some(())
            }
            _ => {
                match self.factors.iter_mut().find(|(known, _)| known == base) {
                    Some((_, before)) => *before = before.plus(power)?,
                    None => self.factors.push((base.clone(), power)),
                }
                self.factors.retain(|(_, power)| *power != Fraction::ZERO);
                Some(())
            }
        }
    }

    /// Times the exponential of that.
    fn raise(&mut self, by: &Expr) {
        self.exponent = polynomial(&tidy::add(&self.exponent, by)).to_expr();
    }

    /// The product without what is outside.
    fn to_expr(&self) -> Expr {
        let power = |(base, n): &(Expr, Fraction)| match n.as_integer() {
            _ if *n == Fraction::ONE => base.clone(),
            _ if Fraction::new(1, 2) == Some(*n) => Expr::call(Function::Sqrt, [base.clone()]),
            Some(_) | None => base.pow(Expr::number(*n)),
        };
        let exponential = (!self.exponent.is(0)).then(|| Expr::call(Function::Exp, [self.exponent.clone()]));
        self.factors.iter().map(power).chain(exponential).reduce(|a, b| a * b).unwrap_or_else(|| Expr::number(1))
    }

    /// The slope of a linear expression.
    fn slope(&self, expr: &Expr) -> Option<Expr> {
        let slope = polynomial(&diff(expr, self.name).ok()?).to_expr();
        (!mentions(&slope, self.name) && !slope.is(0)).then_some(slope)
    }

    /// Without the powers of the variable itself, and which they are.
    fn apart(&self) -> (Option<Fraction>, Vec<(Expr, Fraction)>) {
        let variable = Expr::variable(self.name);
        let power = self.factors.iter().find(|(base, _)| *base == variable).map(|(_, n)| *n);
        (power, self.factors.iter().filter(|(base, _)| *base != variable).cloned().collect())
    }

    fn integral(&self, depth: usize) -> Option<Expr> {
        let (power, others) = self.apart();
        let natural = power.map_or(Some(0), Fraction::as_integer).filter(|n| *n >= 0);
        let alone = self.exponent.is(0);
        let known = match (&others[..], natural) {
            ([], _) if alone => self.of_power(power.unwrap_or(Fraction::ZERO)),
            ([], Some(n)) => self.by_parts(n, depth),
            ([(base, r)], Some(0)) if alone => self.of_base(base, *r),
            ([(base, r)], Some(n)) if alone => {
                self.of_root(base, *r, n).or_else(|| self.by_other_parts(base, *r, Fraction::integer(n), depth))
            }
            ([(base, r)], None) if alone => self.by_other_parts(base, *r, power?, depth),
            _ => None,
        };
        let known = known.or_else(|| self.of_waves(&others, natural, depth));
        known.or_else(|| self.by_substitution(depth)).or_else(|| self.expanded(&others, depth))
    }

    /// ∫ xⁿ
    fn of_power(&self, n: Fraction) -> Option<Expr> {
        let x = Expr::variable(self.name);
        if n == Fraction::MINUS_ONE {
            return Some(Expr::call(Function::Log, [Expr::call(Function::Abs, [x])]));
        }
        let next = Expr::number(n.plus(Fraction::ONE)?);
        Some(tidy::div(&tidy::pow(&x, &next), &next))
    }

    /// ∫ bʳ: rows of the table, powers of linear bases, roots of quadratics.
    fn of_base(&self, base: &Expr, r: Fraction) -> Option<Expr> {
        if let (Op::Call(function), [inner]) = (base.op(), base.args())
            && let Some(row) = TABLE.iter().find(|row| row.0 == *function && Some(row.1) == r.as_integer())
        {
            let slope = self.slope(inner)?;
            return Some(tidy::div(&Expr::parse(row.2).ok()?.substitute(&[("a", inner.clone())]), &slope));
        }
        let Some(slope) = self.slope(base) else { return self.of_root(base, r, 0) };
        if !is_sum(base) {
            return None;
        }
        let found = if r == Fraction::MINUS_ONE {
            Expr::call(Function::Log, [Expr::call(Function::Abs, [base.clone()])])
        } else {
            let next = Expr::number(r.plus(Fraction::ONE)?);
            tidy::div(&tidy::pow(base, &next), &next)
        };
        Some(tidy::div(&found, &slope))
    }

    /// ∫ xⁿ exp(u), ∫ xⁿ f: xⁿ F − ∫ n xⁿ⁻¹ F, where F is of the same kind.
    fn by_parts(&self, n: i64, depth: usize) -> Option<Expr> {
        let whole = match self.slope(&self.exponent) {
            Some(slope) => tidy::div(&Expr::call(Function::Exp, [self.exponent.clone()]), &slope),
            None => return if n == 0 { self.of_gauss() } else { None },
        };
        self.down(n, &whole, depth)
    }

    /// ∫ xⁿ f by an antiderivative F of f.
    fn down(&self, n: i64, whole: &Expr, depth: usize) -> Option<Expr> {
        if n == 0 {
            return Some(whole.clone());
        }
        let x = Expr::variable(self.name);
        let rest = tidy::mul(&Expr::number(n), &tidy::mul(&tidy::pow(&x, &Expr::number(n - 1)), whole));
        Some(tidy::sub(&tidy::mul(&tidy::pow(&x, &Expr::number(n)), whole), &integral(&rest, self.name, depth)?))
    }

    /// ∫ exp(−a x² + b x + c) for a > 0 by the error function.
    fn of_gauss(&self) -> Option<Expr> {
        let [c, b, a] = &self.coefficients(&self.exponent)?[..] else { return None };
        let a = super::number(&a.to_expr()).filter(|a| *a < 0.0).map(|_| tidy::neg(&a.to_expr()))?;
        let (b, c) = (b.to_expr(), c.to_expr());
        // −a (x − b/2a)² + b²/4a + c
        let root = tidy::call(Function::Sqrt, vec![a.clone()]);
        let shifted = tidy::sub(
            &tidy::mul(&root, &Expr::variable(self.name)),
            &tidy::div(&b, &tidy::mul(&Expr::number(2), &root)),
        );
        let height = tidy::add(&tidy::div(&tidy::mul(&b, &b), &tidy::mul(&Expr::number(4), &a)), &c);
        let factor = tidy::div(&Expr::parse("sqrt(pi)/2").ok()?, &root);
        let factor = tidy::mul(&factor, &tidy::call(Function::Exp, vec![height]));
        Some(tidy::mul(&factor, &Expr::call(Function::Erf, [shifted])))
    }

    fn coefficients(&self, expr: &Expr) -> Option<Vec<Polynomial>> {
        polynomial(expr).coefficients(self.name)
    }

    /// ∫ xⁿ qʳ for r half of an odd number and a quadratic q = a x² + b x + c of numbers: sums of ∫ xᵏ/√q.
    fn of_root(&self, q: &Expr, r: Fraction, n: i64) -> Option<Expr> {
        let numbers: Vec<Fraction> =
            self.coefficients(q)?.iter().map(|c| c.to_expr().as_fraction()).collect::<Option<_>>()?;
        let &[c, b, a] = &numbers[..] else { return None };
        let above = r.plus(Fraction::new(1, 2)?)?.as_integer().filter(|_| r.denominator() == 2)?;
        let x = Expr::variable(self.name);
        if above == -1 && n == 0 {
            // ∫ q^(−3/2) = 2 (2 a x + b) / ((4 a c − b²) √q)
            let four = a.times(c)?.times(Fraction::integer(4))?.plus(b.times(b)?.negated())?;
            let top = tidy::add(
                &tidy::mul(&Expr::number(a.times(Fraction::integer(4))?), &x),
                &Expr::number(b.times(Fraction::integer(2))?),
            );
            return Some(tidy::div(&top, &tidy::mul(&Expr::number(four), &Expr::call(Function::Sqrt, [q.clone()]))));
        }
        if !(0..=4).contains(&above) {
            return None;
        }
        // xⁿ q^above / √q
        let top = polynomial(&(tidy::pow(&x, &Expr::number(n)) * tidy::pow(q, &Expr::number(above))))
            .coefficients(self.name)?;
        let mut sum = Expr::number(0);
        for (k, factor) in top.iter().enumerate() {
            sum = tidy::add(&sum, &tidy::mul(&factor.to_expr(), &of_inverse_root([a, b, c], q, &x, k as i64)?));
        }
        Some(sum)
    }

    /// ∫ xⁿ f where f' is algebraic: xⁿ⁺¹/(n+1) f − ∫ xⁿ⁺¹/(n+1) f'. Where F is as simple as f: xⁿ F − ∫ n xⁿ⁻¹ F.
    fn by_other_parts(&self, base: &Expr, r: Fraction, n: Fraction, depth: usize) -> Option<Expr> {
        use Function::{Acos, Acosh, Asin, Asinh, Atan, Atanh, Log, LogOnePlus, LogTen, LogTwo};
        let (Op::Call(function), [inner]) = (base.op(), base.args()) else { return None };
        let next = n.plus(Fraction::ONE).filter(|next| *next != Fraction::ZERO)?;
        if [Log, LogTwo, LogTen, LogOnePlus, Atan, Asin, Acos, Asinh, Acosh, Atanh].contains(function) && depth > 0 {
            let power = r.as_integer().filter(|r| (1..=3).contains(r))?;
            let f = tidy::pow(base, &Expr::number(power));
            let before = tidy::div(&tidy::pow(&Expr::variable(self.name), &Expr::number(next)), &Expr::number(next));
            // Powers of the variable cancel.
            let mut rest = Term::new(self.name);
            rest.times(&Expr::variable(self.name), next)?;
            rest.times(&polynomial(&diff(&f, self.name).ok()?).to_expr(), Fraction::ONE)?;
            let rest = tidy::div(&tidy::mul(&rest.outside, &rest.to_expr()), &Expr::number(next));
            return Some(tidy::sub(&tidy::mul(&before, &f), &integral(&rest, self.name, depth - 1)?));
        }
        let kinds = [Function::Sin, Function::Cos, Function::Sinh, Function::Cosh, Function::ExpTwo];
        self.slope(inner).filter(|_| r == Fraction::ONE && kinds.contains(function))?;
        self.down(n.as_integer().filter(|n| *n >= 0)?, &self.of_base(base, r)?, depth)
    }

    /// Products of powers of sines and cosines of linear arguments, with an exponential of one and a power of x: sums
    /// of single ones.
    fn of_waves(&self, others: &[(Expr, Fraction)], natural: Option<i64>, depth: usize) -> Option<Expr> {
        let n = natural?;
        let mut waves: Vec<(Expr, Wave, Expr)> = vec![(Expr::number(1), Wave::Cos, Expr::number(0))];
        for (base, power) in others {
            let (Op::Call(function @ (Function::Sin | Function::Cos)), [inner]) = (base.op(), base.args()) else {
                return None;
            };
            self.slope(inner)?;
            let wave = if *function == Function::Sin { Wave::Sin } else { Wave::Cos };
            for _ in 0..power.as_integer().filter(|power| (1..=8).contains(power))? {
                waves = waves.iter().flat_map(|left| multiplied(left, wave, inner)).collect();
            }
        }
        if others.is_empty() {
            return None;
        }
        let grows =
            (!self.exponent.is(0)).then(|| self.slope(&self.exponent)).map_or(Some(None), |slope| slope.map(Some))?;
        let exponential = grows.as_ref().map(|_| Expr::call(Function::Exp, [self.exponent.clone()]));
        let mut sum = Expr::number(0);
        for (factor, wave, inner) in waves {
            let of = |wave: Wave| tidy::call(wave.function(), vec![inner.clone()]);
            let b = polynomial(&diff(&inner, self.name).ok()?).to_expr();
            let single = match (&grows, b.is(0)) {
                // A constant, times the exponential.
                (None, true) => tidy::mul(&of(wave), &Expr::variable(self.name)),
                (Some(a), true) => tidy::mul(&of(wave), &tidy::div(exponential.as_ref()?, a)),
                (None, false) => tidy::div(&wave.integral(&of), &b),
                // exp(a x) (a sin − b cos) / (a² + b²), exp(a x) (a cos + b sin) / (a² + b²)
                (Some(a), false) => {
                    let below = tidy::add(&tidy::mul(a, a), &tidy::mul(&b, &b));
                    let other = tidy::mul(&b, &wave.integral(&of));
                    tidy::div(&tidy::mul(exponential.as_ref()?, &tidy::add(&tidy::mul(a, &of(wave)), &other)), &below)
                }
            };
            let part = if b.is(0) && grows.is_none() {
                // c x⋅xⁿ⁻⁰: a power of x alone.
                let next = Expr::number(n + 1);
                tidy::mul(&of(wave), &tidy::div(&tidy::pow(&Expr::variable(self.name), &next), &next))
            } else {
                self.down(n, &single, depth)?
            };
            sum = tidy::add(&sum, &tidy::mul(&factor, &part));
        }
        Some(sum)
    }

    /// A part of the integrand as the variable: ∫ h(g) g' dx = H(g).
    fn by_substitution(&self, depth: usize) -> Option<Expr> {
        const NAME: &str = "%";
        let depth = depth.checked_sub(1)?;
        let whole = self.to_expr();
        let dag = Dag::of(&whole);
        let mentioned = dag.mentions(self.name);
        let candidates =
            (0..dag.len()).filter(|id| mentioned[*id] && matches!(dag.op(*id), Op::Call(_)) && *id != dag.root());
        for id in candidates.take(CANDIDATES) {
            let part = &dag.exprs()[id];
            let u = Expr::variable(NAME);
            let rest = match self.slope(part) {
                // x = (u − b)/a
                Some(a) => {
                    let b = part.substitute(&[(self.name, Expr::number(0))]);
                    let x = tidy::div(&tidy::sub(&u, &b), &a);
                    tidy::div(&replaced(&whole, part, &u).substitute(&[(self.name, x)]), &a)
                }
                None => {
                    let mut rest = Term { outside: Expr::number(1), ..self.clone() };
                    rest.times(&polynomial(&diff(part, self.name).ok()?).to_expr(), Fraction::MINUS_ONE)?;
                    // exp(k v) is a power of exp(v).
                    let times =
                        |k: &i64| polynomial(&(&rest.exponent - Expr::number(*k) * &part.args()[0])).to_expr().is(0);
                    let power =
                        (*part.op() == Op::Call(Function::Exp)).then(|| (-4..=4).find(times)).flatten().unwrap_or(0);
                    if power != 0 {
                        rest.exponent = Expr::number(0);
                    }
                    let powers = tidy::mul(&rest.outside, &tidy::pow(&u, &Expr::number(power)));
                    tidy::mul(&powers, &replaced(&rest.to_expr(), part, &u))
                }
            };
            if mentions(&rest, self.name) || rest == whole {
                continue;
            }
            if let Some(found) = integral(&rest, NAME, depth) {
                return Some(found.substitute(&[(NAME, part.clone())]));
            }
        }
        None
    }

    /// A sum among the factors multiplied out.
    fn expanded(&self, others: &[(Expr, Fraction)], depth: usize) -> Option<Expr> {
        let depth = depth.checked_sub(1)?;
        let (base, power) = others
            .iter()
            .find(|(base, power)| is_sum(base) && power.as_integer().is_some_and(|n| (1..=8).contains(&n)))?;
        let mut rest = self.clone();
        rest.factors.retain(|(other, _)| other != base);
        let terms = polynomial(&tidy::pow(base, &Expr::number(*power)));
        let mut sum = Expr::number(0);
        for (monomial, x) in &terms.terms {
            let mut term = rest.clone();
            term.outside = Expr::number(*x);
            monomial.iter().try_for_each(|(atom, n)| term.times(atom, Fraction::integer(*n)))?;
            sum = tidy::add(&sum, &tidy::mul(&term.outside.clone(), &term.integral(depth)?));
        }
        Some(sum)
    }
}

fn is_sum(expr: &Expr) -> bool {
    matches!(expr.op(), Op::Call(Function::Add | Function::Sub))
}

/// An expression with a part of it replaced.
fn replaced(expr: &Expr, part: &Expr, by: &Expr) -> Expr {
    let dag = Dag::of(expr);
    let all = dag.fold(|op, args, done: &[Expr]| {
        if dag.exprs()[done.len()] == *part {
            return by.clone();
        }
        Expr::new(op.clone(), args.iter().map(|arg| done[*arg].clone()).collect())
    });
    all[dag.root()].clone()
}

/// ∫ xⁿ/√q for q = a x² + b x + c, from n down to 0.
fn of_inverse_root([a, b, c]: [Fraction; 3], q: &Expr, x: &Expr, n: i64) -> Option<Expr> {
    let number = |x: Fraction| Expr::number(x);
    let root = Expr::call(Function::Sqrt, [q.clone()]);
    let sqrt = |x: Fraction| tidy::call(Function::Sqrt, vec![number(x)]);
    if n == 0 {
        let half = b.times(a.times(Fraction::integer(2))?.inverted()?)?;
        let k = c.plus(half.times(half)?.times(a)?.negated())?;
        let u = tidy::add(x, &number(half));
        let scaled = |ratio: Fraction| tidy::mul(&sqrt(ratio), &u);
        return match (a > Fraction::ZERO, k > Fraction::ZERO) {
            (true, true) => Some(tidy::div(&Expr::call(Function::Asinh, [scaled(a.times(k.inverted()?)?)]), &sqrt(a))),
            (false, true) => Some(tidy::div(
                &Expr::call(Function::Asin, [scaled(a.negated().times(k.inverted()?)?)]),
                &sqrt(a.negated()),
            )),
            (true, false) if k != Fraction::ZERO => {
                let inside = tidy::add(&tidy::mul(&sqrt(a), &u), &root);
                Some(tidy::div(&Expr::call(Function::Log, [Expr::call(Function::Abs, [inside])]), &sqrt(a)))
            }
            (true | false, false) => None,
        };
    }
    // xⁿ⁻¹ √q / (n a) − (2 n − 1) b / (2 n a) ∫ xⁿ⁻¹/√q − (n − 1) c / (n a) ∫ xⁿ⁻²/√q
    let over = a.times(Fraction::integer(n))?.inverted()?;
    let mut sum = tidy::mul(&number(over), &tidy::mul(&tidy::pow(x, &Expr::number(n - 1)), &root));
    let first = over.times(b)?.times(Fraction::new((2 * n - 1).into(), 2)?)?;
    if first != Fraction::ZERO {
        sum = tidy::sub(&sum, &tidy::mul(&number(first), &of_inverse_root([a, b, c], q, x, n - 1)?));
    }
    let second = over.times(c)?.times(Fraction::integer(n - 1))?;
    if second != Fraction::ZERO {
        sum = tidy::sub(&sum, &tidy::mul(&number(second), &of_inverse_root([a, b, c], q, x, n - 2)?));
    }
    Some(sum)
}

#[derive(Clone, Copy, PartialEq)]
enum Wave {
    Sin,
    Cos,
}

impl Wave {
    fn function(self) -> Function {
        match self {
            Wave::Sin => Function::Sin,
            Wave::Cos => Function::Cos,
        }
    }

    /// ∫ sin = −cos, ∫ cos = sin.
    fn integral(self, of: &impl Fn(Wave) -> Expr) -> Expr {
        match self {
            Wave::Sin => tidy::neg(&of(Wave::Cos)),
            Wave::Cos => of(Wave::Sin),
        }
    }
}

/// A product of two waves as a sum of two.
fn multiplied((factor, left, a): &(Expr, Wave, Expr), right: Wave, b: &Expr) -> [(Expr, Wave, Expr); 2] {
    let tidied = |expr: Expr| polynomial(&expr).to_expr();
    let (sum, difference) = (tidied(a + b), tidied(a - b));
    let half = tidy::mul(&(Expr::number(1) / 2), factor);
    match (left, right) {
        // sin a sin b = (cos(a − b) − cos(a + b))/2
        (Wave::Sin, Wave::Sin) => [(half.clone(), Wave::Cos, difference), (tidy::neg(&half), Wave::Cos, sum)],
        // cos a cos b = (cos(a − b) + cos(a + b))/2
        (Wave::Cos, Wave::Cos) => [(half.clone(), Wave::Cos, difference), (half, Wave::Cos, sum)],
        // sin a cos b = (sin(a + b) + sin(a − b))/2
        (Wave::Sin, Wave::Cos) => [(half.clone(), Wave::Sin, sum), (half, Wave::Sin, difference)],
        // cos a sin b = (sin(a + b) − sin(a − b))/2
        (Wave::Cos, Wave::Sin) => [(half.clone(), Wave::Sin, sum), (tidy::neg(&half), Wave::Sin, difference)],
    }
}
