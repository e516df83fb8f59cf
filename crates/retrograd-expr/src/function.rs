//! The elementwise functions of the language: everything about one is its row.

use retrograd::{OpDef, ops};

/// What one function is.
#[derive(Debug)]
pub struct FunctionRow {
    /// Its name in both notations; of an operator, its sign.
    pub name: &'static str,
    /// Number of arguments.
    pub arity: usize,
    /// The op that computes it.
    pub op: &'static OpDef,
    /// Derivatives by each argument, in the language, of the arguments `a`, `b` and the result `r`. An empty text is
    /// no derivative: the function is flat, or gives no number.
    pub partials: &'static [&'static str],
    /// Its name in LaTeX.
    pub latex: &'static str,
    /// Its name in C.
    pub c: &'static str,
    /// Its method in Rust.
    pub rust: &'static str,
    /// Arguments at which it and its derivatives are finite; `None` where they are so everywhere.
    pub safe: Option<&'static [f64]>,
}

macro_rules! functions {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal $op:ident [$($partial:literal),*] $latex:literal $c:literal $rust:literal $safe:expr;)*) => {
        /// An elementwise function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Function { $($(#[doc = $doc])+ $variant),* }

        impl Function {
            /// All of them.
            pub const ALL: &'static [Function] = &[$(Function::$variant),*];

            /// Its row.
            pub fn row(self) -> &'static FunctionRow {
                match self {
                    $(Function::$variant => {
                        const PARTIALS: &[&str] = &[$($partial),*];
                        const SAFE: Option<&[f64]> = $safe;
                        static ROW: FunctionRow = FunctionRow {
                            name: $name,
                            arity: PARTIALS.len(),
                            op: &ops::$op,
                            partials: PARTIALS,
                            latex: $latex,
                            c: $c,
                            rust: $rust,
                            safe: SAFE,
                        };
                        &ROW
                    })*
                }
            }
        }
    };
}

functions! {
    /// a + b
    Add = "+" ADD ["1", "1"] "+" "+" "+" None;
    /// a − b
    Sub = "-" SUB ["1", "-1"] "-" "-" "-" None;
    /// a b
    Mul = "*" MUL ["b", "a"] "" "*" "*" None;
    /// a / b
    Div = "/" DIV ["1/b", "-r/b"] "" "/" "/" Some(&[1.0, 1.0]);
    /// −a
    Neg = "neg" NEG ["-1"] "-" "-" "-" None;
    /// a to the power b
    Pow = "^" POW ["b*a^(b - 1)", "log(a)*r"] "" "pow" "powf" Some(&[1.0, 1.0]);
    /// Sine
    Sin = "sin" SIN ["cos(a)"] "\\sin" "sin" "sin" None;
    /// Cosine
    Cos = "cos" COS ["-sin(a)"] "\\cos" "cos" "cos" None;
    /// Tangent
    Tan = "tan" TAN ["1 + r^2"] "\\tan" "tan" "tan" Some(&[0.0]);
    /// Arc sine
    Asin = "asin" ASIN ["1/sqrt(1 - a^2)"] "\\arcsin" "asin" "asin" Some(&[0.0]);
    /// Arc cosine
    Acos = "acos" ACOS ["-1/sqrt(1 - a^2)"] "\\arccos" "acos" "acos" Some(&[0.0]);
    /// Arc tangent
    Atan = "atan" ATAN ["1/(1 + a^2)"] "\\arctan" "atan" "atan" None;
    /// The angle of the point (b, a)
    AtanTwo = "atan2" ATAN2 ["b/(a^2 + b^2)", "-a/(a^2 + b^2)"] "\\operatorname{atan2}" "atan2" "atan2" Some(&[1.0, 1.0]);
    /// Hyperbolic sine
    Sinh = "sinh" SINH ["cosh(a)"] "\\sinh" "sinh" "sinh" None;
    /// Hyperbolic cosine
    Cosh = "cosh" COSH ["sinh(a)"] "\\cosh" "cosh" "cosh" None;
    /// Hyperbolic tangent
    Tanh = "tanh" TANH ["1 - r^2"] "\\tanh" "tanh" "tanh" None;
    /// Inverse hyperbolic sine
    Asinh = "asinh" ASINH ["1/sqrt(1 + a^2)"] "\\operatorname{arsinh}" "asinh" "asinh" None;
    /// Inverse hyperbolic cosine
    Acosh = "acosh" ACOSH ["1/sqrt(a^2 - 1)"] "\\operatorname{arcosh}" "acosh" "acosh" Some(&[2.0]);
    /// Inverse hyperbolic tangent
    Atanh = "atanh" ATANH ["1/(1 - a^2)"] "\\operatorname{artanh}" "atanh" "atanh" Some(&[0.0]);
    /// Exponential
    Exp = "exp" EXP ["r"] "\\exp" "exp" "exp" None;
    /// 2 to the power a
    ExpTwo = "exp2" EXP2 ["log(2)*r"] "\\operatorname{exp2}" "exp2" "exp2" None;
    /// Exponential less 1
    Expm = "expm1" EXPM1 ["exp(a)"] "\\operatorname{expm1}" "expm1" "exp_m1" None;
    /// Natural logarithm
    Log = "log" LOG ["1/a"] "\\ln" "log" "ln" Some(&[1.0]);
    /// Logarithm to base 2
    LogTwo = "log2" LOG2 ["1/(log(2)*a)"] "\\log_2" "log2" "log2" Some(&[1.0]);
    /// Logarithm to base 10
    LogTen = "log10" LOG10 ["1/(log(10)*a)"] "\\log_{10}" "log10" "log10" Some(&[1.0]);
    /// Logarithm of 1 more
    LogOnePlus = "log1p" LOG1P ["1/(1 + a)"] "\\operatorname{log1p}" "log1p" "ln_1p" Some(&[0.0]);
    /// Square root
    Sqrt = "sqrt" SQRT ["1/(2*r)"] "\\sqrt" "sqrt" "sqrt" Some(&[1.0]);
    /// Cube root
    Cbrt = "cbrt" CBRT ["1/(3*r^2)"] "\\sqrt[3]" "cbrt" "cbrt" Some(&[1.0]);
    /// √(a² + b²)
    Hypot = "hypot" HYPOT ["a/r", "b/r"] "\\operatorname{hypot}" "hypot" "hypot" Some(&[1.0, 1.0]);
    /// Absolute value
    Abs = "abs" ABS ["sign(a)"] "" "fabs" "abs" None;
    /// −1, 0 or 1
    Sign = "sign" SIGN [""] "\\operatorname{sign}" "sign" "sign" None;
    /// The greatest integer that is not above
    Floor = "floor" FLOOR [""] "" "floor" "floor" None;
    /// The least integer that is not below
    Ceil = "ceil" CEIL [""] "" "ceil" "ceil" None;
    /// The nearest integer, of two the even one
    Round = "round" ROUND [""] "\\operatorname{round}" "rint" "round_ties_even" None;
    /// Without the fraction
    Trunc = "trunc" TRUNC [""] "\\operatorname{trunc}" "trunc" "trunc" None;
    /// Error function
    Erf = "erf" ERF ["2/sqrt(pi)*exp(-a^2)"] "\\operatorname{erf}" "erf" "erf" None;
    /// 1 less the error function
    Erfc = "erfc" ERFC ["-2/sqrt(pi)*exp(-a^2)"] "\\operatorname{erfc}" "erfc" "erfc" None;
    /// 1 / (1 + exp(−a))
    Sigmoid = "sigmoid" LOGISTIC ["r*sigmoid(-a)"] "\\sigma" "sigmoid" "sigmoid" None;
    /// The lesser
    Min = "min" MIN ["if(a < b, 1, if(a == b, 1/2, 0))", "if(b < a, 1, if(a == b, 1/2, 0))"] "\\min" "fmin" "min" None;
    /// The greater
    Max = "max" MAX ["if(a > b, 1, if(a == b, 1/2, 0))", "if(b > a, 1, if(a == b, 1/2, 0))"] "\\max" "fmax" "max" None;
    /// a < b
    Lt = "<" LT ["", ""] "<" "<" "<" None;
    /// a ≤ b
    Le = "<=" LE ["", ""] "\\le" "<=" "<=" None;
    /// a > b
    Gt = ">" GT ["", ""] ">" ">" ">" None;
    /// a ≥ b
    Ge = ">=" GE ["", ""] "\\ge" ">=" ">=" None;
    /// a = b
    Eq = "==" EQ ["", ""] "=" "==" "==" None;
    /// a ≠ b
    Ne = "!=" NE ["", ""] "\\ne" "!=" "!=" None;
    /// Both hold
    And = "and" AND ["", ""] "\\land" "&&" "&&" None;
    /// At least one holds
    Or = "or" OR ["", ""] "\\lor" "||" "||" None;
    /// Does not hold
    Not = "not" NOT [""] "\\lnot" "!" "!" None;
    /// b where a holds, else c
    Select = "if" SELECT ["", "if(a, 1, 0)", "if(a, 0, 1)"] "" "?" "if" None;
}

/// Other names for functions.
const ALIASES: &[(&str, Function)] = &[
    ("ln", Function::Log),
    ("arcsin", Function::Asin),
    ("arccos", Function::Acos),
    ("arctan", Function::Atan),
    ("arctan2", Function::AtanTwo),
    ("arcsinh", Function::Asinh),
    ("arccosh", Function::Acosh),
    ("arctanh", Function::Atanh),
    ("logistic", Function::Sigmoid),
    ("minimum", Function::Min),
    ("maximum", Function::Max),
    ("pow", Function::Pow),
];

impl Function {
    /// The function of that name.
    pub fn find(name: &str) -> Option<Function> {
        let own = Function::ALL.iter().copied().find(|function| function.row().name == name);
        own.or_else(|| ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, function)| *function))
    }

    /// Whether it is written as `name(…)`.
    pub fn is_named(self) -> bool {
        self.row().name.starts_with(|c: char| c.is_ascii_alphabetic()) && !self.gives_truth() && self != Function::Neg
    }

    /// Whether its result holds or does not, and is no number.
    pub fn gives_truth(self) -> bool {
        use Function::{And, Eq, Ge, Gt, Le, Lt, Ne, Not, Or};
        matches!(self, Lt | Le | Gt | Ge | Eq | Ne | And | Or | Not)
    }
}
