//! Numbers that expressions hold: fractions of integers, exactly, and floats where those do not do.

use std::cmp::Ordering;
use std::fmt;

/// A fraction of two 64-bit integers in lowest terms, with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    numerator: i64,
    denominator: i64,
}

impl Fraction {
    /// 0.
    pub const ZERO: Fraction = Fraction::integer(0);
    /// 1.
    pub const ONE: Fraction = Fraction::integer(1);
    /// −1.
    pub const MINUS_ONE: Fraction = Fraction::integer(-1);

    /// An integer.
    pub const fn integer(n: i64) -> Fraction {
        Fraction { numerator: n, denominator: 1 }
    }

    /// The quotient of two integers in lowest terms; `None` where it has no such form in 64 bits.
    pub fn new(numerator: i128, denominator: i128) -> Option<Fraction> {
        if denominator == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs()).cast_signed();
        let sign = denominator.signum();
        let numerator = i64::try_from(numerator / divisor * sign).ok()?;
        let denominator = i64::try_from(denominator / divisor * sign).ok()?;
        // −2⁶³ has no negative in 64 bits.
        (numerator != i64::MIN).then_some(Fraction { numerator, denominator })
    }

    /// Above the line.
    pub fn numerator(self) -> i64 {
        self.numerator
    }

    /// Below the line, positive.
    pub fn denominator(self) -> i64 {
        self.denominator
    }

    /// The integer that it is.
    pub fn as_integer(self) -> Option<i64> {
        (self.denominator == 1).then_some(self.numerator)
    }

    /// Its sum with another, where that fits.
    pub fn plus(self, other: Fraction) -> Option<Fraction> {
        let cross = i128::from(self.numerator) * i128::from(other.denominator)
            + i128::from(other.numerator) * i128::from(self.denominator);
        Fraction::new(cross, i128::from(self.denominator) * i128::from(other.denominator))
    }

    /// Its product with another, where that fits.
    pub fn times(self, other: Fraction) -> Option<Fraction> {
        let top = i128::from(self.numerator) * i128::from(other.numerator);
        Fraction::new(top, i128::from(self.denominator) * i128::from(other.denominator))
    }

    /// With the other sign.
    #[must_use]
    pub fn negated(self) -> Fraction {
        Fraction { numerator: -self.numerator, ..self }
    }

    /// 1 over it, unless it is 0.
    pub fn inverted(self) -> Option<Fraction> {
        Fraction::new(i128::from(self.denominator), i128::from(self.numerator))
    }

    /// It to an integer power, where that is defined and fits.
    pub fn to_power(self, exponent: i64) -> Option<Fraction> {
        let factor = if exponent < 0 { self.inverted()? } else { self };
        // Beyond 64 every power but those of 0 and ±1 overflows; those need only the parity.
        let count = match exponent.unsigned_abs() {
            large if large > 64 && matches!(factor.numerator, -1..=1) && factor.denominator == 1 => 64 + large % 2,
            large if large > 64 => return None,
            small => small,
        };
        (0..count).try_fold(Fraction::ONE, |power, _| power.times(factor))
    }

    /// The nearest float.
    pub fn to_f64(self) -> f64 {
        const EXACT: u64 = 1 << 53;
        if self.numerator.unsigned_abs() <= EXACT && self.denominator.unsigned_abs() <= EXACT {
            return self.numerator as f64 / self.denominator as f64;
        }
        // Of a quotient with at least 64 bits, the last of which is set where anything is left over, rounding gives the
        // nearest.
        let (top, bottom) = (u128::from(self.numerator.unsigned_abs()), u128::from(self.denominator.unsigned_abs()));
        let shift = top.leading_zeros();
        let (quotient, rest) = ((top << shift) / bottom, (top << shift) % bottom);
        let nearest = (quotient | u128::from(rest != 0)) as f64 / f64::powi(2.0, shift.cast_signed());
        if self.numerator < 0 { -nearest } else { nearest }
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Fraction) -> Ordering {
        let left = i128::from(self.numerator) * i128::from(other.denominator);
        left.cmp(&(i128::from(other.numerator) * i128::from(self.denominator)))
    }
}

/// `3`, `-1/3`.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A number of an expression: exact where it is a [`Fraction`], so that constants fold without rounding.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// Exactly this.
    Fraction(Fraction),
    /// A finite float whose fraction is too long, such as 1e300 or 0.1234567890123456789.
    Float(f64),
}

impl Number {
    /// A float: as a fraction where it is an integer, or has a short decimal form.
    pub fn of(x: f64) -> Number {
        Number::parse(&format!("{x:e}")).unwrap_or(Number::Float(x))
    }

    /// The number that a decimal literal such as `0.25` or `6.02e23` says; `None` where it is none, or overflows.
    pub fn parse(text: &str) -> Option<Number> {
        let value: f64 = text.parse().ok()?;
        if !value.is_finite() {
            return None;
        }
        // What is too small for a float is 0.
        let zero = (value == 0.0).then_some(Fraction::ZERO);
        Some(zero.or_else(|| exact(text)).map_or(Number::Float(value), Number::Fraction))
    }

    /// The nearest float.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Fraction(fraction) => fraction.to_f64(),
            Number::Float(x) => x,
        }
    }

    /// As a fraction, where it is one.
    pub fn fraction(self) -> Option<Fraction> {
        match self {
            Number::Fraction(fraction) => Some(fraction),
            Number::Float(_) => None,
        }
    }

    /// With the other sign.
    #[must_use]
    pub fn negated(self) -> Number {
        match self {
            Number::Fraction(fraction) => Number::Fraction(fraction.negated()),
            Number::Float(x) => Number::Float(-x),
        }
    }
}

/// The fraction that a decimal literal is, if its digits and its power of ten are few.
fn exact(text: &str) -> Option<Fraction> {
    const DIGITS: usize = 15;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: i128 = format!("{whole}{part}").parse().ok()?;
    let power = exponent.checked_sub(i32::try_from(part.len()).ok()?)?;
    let significant = whole.trim_start_matches(['-', '0']).len() + part.len();
    if significant > DIGITS || power.unsigned_abs() > DIGITS as u32 {
        return digits_of_integer(digits, part, exponent);
    }
    let ten = 10_i128.pow(power.unsigned_abs());
    if power < 0 { Fraction::new(digits, ten) } else { Fraction::new(digits * ten, 1) }
}

/// An integer written in full is exact where it fits.
fn digits_of_integer(digits: i128, part: &str, exponent: i32) -> Option<Fraction> {
    (part.is_empty() && exponent == 0).then(|| Fraction::new(digits, 1)).flatten()
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Fractions by value, then floats by value.
impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (self, other) {
            (Number::Fraction(a), Number::Fraction(b)) => a.cmp(b),
            (Number::Float(a), Number::Float(b)) => a.total_cmp(b),
            (Number::Fraction(_), Number::Float(_)) => Ordering::Less,
            (Number::Float(_), Number::Fraction(_)) => Ordering::Greater,
        }
    }
}

impl std::hash::Hash for Number {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Number::Fraction(fraction) => fraction.hash(state),
            Number::Float(x) => x.to_bits().hash(state),
        }
    }
}

impl From<i64> for Number {
    fn from(n: i64) -> Number {
        if n == i64::MIN { Number::Float(n as f64) } else { Number::Fraction(Fraction::integer(n)) }
    }
}

impl From<Fraction> for Number {
    fn from(fraction: Fraction) -> Number {
        Number::Fraction(fraction)
    }
}

/// As the language reads it: `3`, `-1/3`, `1e300`.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Fraction(fraction) => fraction.fmt(f),
            Number::Float(x) => write!(f, "{x:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_round_to_the_nearest_float() {
        for text in ["0.1", "123.456", "1e-15", "2.5e10", "0.000001", "999999999999999", "123456789012345678"] {
            let Some(Number::Fraction(fraction)) = Number::parse(text) else { panic!("{text} is a fraction") };
            assert_eq!(fraction.to_f64(), text.parse::<f64>().unwrap(), "{text}");
        }
        assert!(matches!(Number::parse("1e300"), Some(Number::Float(_))));
        assert!(matches!(Number::parse("3.14159265358979323846"), Some(Number::Float(_))));
        assert_eq!(Number::parse("1e999"), None);
    }

    #[test]
    fn long_fractions_round_to_the_nearest_float() {
        // (2⁶² − 1) / 3 · (1/2⁶⁰): a quotient of large integers against the same in extended arithmetic.
        let (top, bottom) = (4_611_686_018_427_387_903_i64, 1_152_921_504_606_846_977_i64);
        let fraction = Fraction::new(top.into(), bottom.into()).unwrap();
        let whole = top / bottom;
        let rest = (top % bottom) as f64 / bottom as f64;
        assert_eq!(fraction.to_f64(), whole as f64 + rest);
        assert_eq!(fraction.negated().to_f64(), -fraction.to_f64());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let large = Fraction::integer(i64::MAX);
        assert_eq!(large.plus(Fraction::ONE), None);
        assert_eq!(large.times(large), None);
        assert_eq!(Fraction::ZERO.inverted(), None);
        assert_eq!(Fraction::integer(2).to_power(-3), Fraction::new(1, 8));
        assert_eq!(Fraction::MINUS_ONE.to_power(1_000_001), Some(Fraction::MINUS_ONE));
        assert_eq!(Fraction::ZERO.to_power(-1), None);
        assert_eq!(Number::from(i64::MIN), Number::Float(i64::MIN as f64));
    }
}
