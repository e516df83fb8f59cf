//! The laws of simplification: one row each, in the language, with the conditions under which it holds.
//!
//! A law is an equation between partial functions: where its conditions hold, both sides are defined at the same points
//! and have the same values there. So what one side drops must be known to be defined.

use super::facts::Facts;

/// What must be known of a letter of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It is defined everywhere.
    Total,
    /// It is never 0.
    NonZero,
    /// It is greater than 0.
    Positive,
    /// It is not less than 0.
    NonNegative,
    /// It is not greater than 0.
    NonPositive,
    /// It is an integer.
    Integer,
    /// It is between −1 and 1.
    Unit,
}

impl Condition {
    /// Whether facts show it.
    pub fn holds(self, facts: &Facts) -> bool {
        match self {
            Condition::Total => facts.total,
            Condition::NonZero => facts.nonzero,
            Condition::Positive => facts.is_positive(),
            Condition::NonNegative => facts.is_nonnegative(),
            Condition::NonPositive => facts.is_nonpositive(),
            Condition::Integer => facts.integer,
            Condition::Unit => facts.low >= -1.0 && facts.high <= 1.0,
        }
    }

    /// In words, of a letter.
    pub fn said(self, letter: char) -> String {
        match self {
            Condition::Total => format!("{letter} is defined everywhere"),
            Condition::NonZero => format!("{letter} != 0"),
            Condition::Positive => format!("{letter} > 0"),
            Condition::NonNegative => format!("{letter} >= 0"),
            Condition::NonPositive => format!("{letter} <= 0"),
            Condition::Integer => format!("{letter} is an integer"),
            Condition::Unit => format!("-1 <= {letter} <= 1"),
        }
    }
}

/// Which way a law is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From left to right.
    Right,
    /// Both.
    Both,
}

/// One law.
#[derive(Debug)]
pub struct Law {
    /// Its name.
    pub name: &'static str,
    /// Letters stand for any expressions.
    pub left: &'static str,
    /// What it equals.
    pub right: &'static str,
    /// What must be known.
    pub conditions: &'static [(char, Condition)],
    /// Which way it is applied.
    pub way: Way,
}

macro_rules! laws {
    ($($name:literal: $left:literal $way:tt $right:literal $(if $($letter:literal $condition:ident),+)?;)*) => {
        /// Every law.
        pub static LAWS: &[Law] = &[$(Law {
            name: $name,
            left: $left,
            right: $right,
            conditions: &[$($(($letter, Condition::$condition)),+)?],
            way: laws!(@way $way),
        }),*];
    };
    (@way =>) => { Way::Right };
    (@way ==) => { Way::Both };
}

// What is to the power 0 is 1, also where it is not defined: so laws after which a power may be 0 ask for more than
// those of the textbook.
laws! {
    "a sum commutes": "a + b" => "b + a";
    "a product commutes": "a*b" => "b*a";
    "sums associate": "a + (b + c)" == "(a + b) + c";
    "products associate": "a*(b*c)" == "(a*b)*c";
    "a difference is a sum": "a - b" == "a + -b";
    "a negative is a product": "-a" == "-1*a";
    "adding 0": "a + 0" => "a";
    "multiplying by 1": "a*1" => "a";
    "multiplying by 0": "a*0" => "0" if 'a' Total;
    "a difference of equals": "a - a" => "0" if 'a' Total;
    "a sum of equals": "a + a" => "2*a";
    "a double negative": "-(-a)" => "a";
    "distribution": "a*(b + c)" == "a*b + a*c";
    "one more of it": "a*b + a" => "a*(b + 1)";
    "a quotient is a product": "a/b" == "a*(1/b)";
    "dividing by 1": "a/1" => "a";
    "a quotient of equals": "a/a" => "1" if 'a' NonZero, 'a' Total;
    "cancelling": "(a*b)/b" => "a" if 'b' NonZero, 'b' Total;
    "0 divided": "0/a" => "0" if 'a' NonZero, 'a' Total;
    "a quotient of a quotient": "(a/b)/c" == "a/(b*c)";
    "a reciprocal of a reciprocal": "1/(1/a)" => "a" if 'a' NonZero;
    "a sum of quotients": "a/c + b/c" == "(a + b)/c";
    "a reciprocal of a product": "1/(a*b)" == "(1/a)*(1/b)";
    "the power 1": "a^1" => "a";
    "the power 0": "a^0" => "1" if 'a' Total;
    "a square is a product": "a*a" == "a^2";
    "one more factor": "a^n*a" => "a^(n + 1)" if 'n' Integer, 'n' NonNegative;
    "one more factor of what is not 0": "a^n*a" => "a^(n + 1)" if 'a' NonZero, 'a' Total;
    "a product of natural powers": "a^m*a^n" => "a^(m + n)" if 'm' Integer, 'm' NonNegative, 'n' Integer, 'n' NonNegative;
    "a product of integer powers": "a^m*a^n" == "a^(m + n)" if 'a' NonZero, 'a' Total, 'm' Integer, 'n' Integer;
    "a product of powers": "a^m*a^n" == "a^(m + n)" if 'a' Positive, 'a' Total;
    "a natural power of a natural power": "(a^m)^n" => "a^(m*n)" if 'm' Integer, 'm' NonNegative, 'n' Integer, 'n' NonNegative;
    "an integer power of an integer power": "(a^m)^n" => "a^(m*n)" if 'a' NonZero, 'm' Integer, 'n' Integer;
    "a power of a power": "(a^m)^n" => "a^(m*n)" if 'a' Positive;
    "an integer power of a product": "(a*b)^n" == "a^n*b^n" if 'n' Integer;
    "a power of a product": "(a*b)^n" == "a^n*b^n" if 'a' NonNegative, 'b' NonNegative;
    "an integer power of a quotient": "(a/b)^n" == "a^n/b^n" if 'n' Integer, 'n' NonZero;
    "a reciprocal is a power": "1/a" == "a^(-1)";
    "a reciprocal of a power": "1/a^n" == "a^(-n)" if 'a' NonZero;
    "a quotient of powers": "a^m/a^n" => "a^(m - n)" if 'a' Positive, 'a' Total;
    "a quotient of integer powers": "a^m/a^n" => "a^(m - n)" if 'a' NonZero, 'a' Total, 'm' Integer, 'n' Integer;
    "a root is a power": "sqrt(a)" == "a^(1/2)";
    "a square of a root": "sqrt(a)^2" => "a" if 'a' NonNegative;
    "a root times itself": "sqrt(a)*sqrt(a)" => "a" if 'a' NonNegative;
    "a root of a square": "sqrt(a^2)" => "abs(a)";
    "a root of a product": "sqrt(a*b)" == "sqrt(a)*sqrt(b)" if 'a' NonNegative, 'b' NonNegative;
    "a difference of roots": "sqrt(a) - sqrt(b)" => "(a - b)/(sqrt(a) + sqrt(b))" if 'a' Positive, 'b' NonNegative;
    "the magnitude of what is not negative": "abs(a)" => "a" if 'a' NonNegative;
    "the magnitude of what is not positive": "abs(a)" => "-a" if 'a' NonPositive;
    "the magnitude of a negative": "abs(-a)" => "abs(a)";
    "the magnitude of a product": "abs(a*b)" == "abs(a)*abs(b)";
    "the square of a magnitude": "abs(a)^2" => "a^2";
    "the sign of what is positive": "sign(a)" => "1" if 'a' Positive, 'a' Total;
    "exp of a sum": "exp(a + b)" == "exp(a)*exp(b)";
    "exp of a negative": "exp(-a)" == "1/exp(a)";
    "a power of exp": "exp(a)^n" == "exp(a*n)" if 'a' Total;
    "exp of log": "exp(log(a))" => "a" if 'a' Positive;
    "log of exp": "log(exp(a))" => "a";
    "log of a product": "log(a*b)" == "log(a) + log(b)" if 'a' Positive, 'b' Positive;
    "log of a quotient": "log(a/b)" == "log(a) - log(b)" if 'a' Positive, 'b' Positive;
    "log of a power": "log(a^n)" == "n*log(a)" if 'a' Positive, 'a' Total;
    "a power is an exp": "a^b" == "exp(b*log(a))" if 'a' Positive, 'a' Total;
    "e to a power": "e^a" == "exp(a)";
    "expm1": "exp(a) - 1" == "expm1(a)";
    "log1p": "log(1 + a)" == "log1p(a)";
    "log1p of expm1": "log1p(expm1(a))" => "a";
    "the logistic function": "1/(1 + exp(-a))" == "sigmoid(a)";
    "Pythagoras": "sin(a)^2 + cos(a)^2" => "1" if 'a' Total;
    "Pythagoras for the sine": "1 - cos(a)^2" == "sin(a)^2";
    "Pythagoras for the cosine": "1 - sin(a)^2" == "cos(a)^2";
    "the sine is odd": "sin(-a)" == "-sin(a)";
    "the cosine is even": "cos(-a)" => "cos(a)";
    "the tangent": "sin(a)/cos(a)" == "tan(a)";
    "the sine of a double": "sin(2*a)" == "2*sin(a)*cos(a)";
    "the cosine of a double": "cos(2*a)" == "cos(a)^2 - sin(a)^2";
    "the sine of a sum": "sin(a + b)" == "sin(a)*cos(b) + cos(a)*sin(b)";
    "the cosine of a sum": "cos(a + b)" == "cos(a)*cos(b) - sin(a)*sin(b)";
    "sin of asin": "sin(asin(a))" => "a" if 'a' Unit;
    "cos of acos": "cos(acos(a))" => "a" if 'a' Unit;
    "tan of atan": "tan(atan(a))" => "a";
    "the hyperbola": "cosh(a)^2 - sinh(a)^2" => "1" if 'a' Total;
    "the hyperbolic tangent": "sinh(a)/cosh(a)" == "tanh(a)";
    "sinh is odd": "sinh(-a)" == "-sinh(a)";
    "cosh is even": "cosh(-a)" => "cosh(a)";
    "tanh is odd": "tanh(-a)" == "-tanh(a)";
    "atan is odd": "atan(-a)" == "-atan(a)";
    "erf is odd": "erf(-a)" == "-erf(a)";
    "sinh of asinh": "sinh(asinh(a))" => "a";
    "asinh of sinh": "asinh(sinh(a))" => "a";
    "the lesser of equals": "min(a, a)" => "a";
    "the greater of equals": "max(a, a)" => "a";
    "the lesser commutes": "min(a, b)" => "min(b, a)";
    "the greater commutes": "max(a, b)" => "max(b, a)";
    "equal sides": "if(c, a, a)" => "a" if 'c' Total;
}
