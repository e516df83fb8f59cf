//! What is assumed of variables.

use std::collections::BTreeMap;

use retrograd::{Error, ErrorKind, Pos};

use super::facts::Facts;
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::syntax::Definitions;

/// What is assumed of variables; without more they are real numbers.
///
/// ```
/// use retrograd_expr::Assumptions;
/// let known = Assumptions::new().assume("x > 0 and y != 0 and integer(n)")?.assume("-1 <= z")?.assume("z < 1")?;
/// assert!(known.facts("x").is_positive() && known.facts("y").nonzero && known.facts("n").integer);
/// assert_eq!((known.facts("z").low, known.facts("z").high), (-1.0, 1.0));
/// assert!(known.assume("x < 0").is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Assumptions(BTreeMap<String, Facts>);

impl Assumptions {
    /// None.
    pub fn new() -> Assumptions {
        Assumptions::default()
    }

    /// With comparisons of variables and numbers, and `integer(n)`, joined by `and`.
    pub fn assume(mut self, text: &str) -> Result<Assumptions, Error> {
        let words = Definitions::new().vjp("integer(n) = n", &["ct"])?;
        let mut stack = vec![Expr::parse_with(text, &words)?];
        while let Some(condition) = stack.pop() {
            match (condition.op(), condition.args()) {
                (Op::Custom(_), [of]) if of.as_variable().is_some() => {
                    self = self.integer(of.as_variable().expect("asked just now"))
                }
                (Op::Call(Function::And), [a, b]) => stack.extend([a.clone(), b.clone()]),
                (Op::Call(function), [a, b]) if function.gives_truth() => {
                    let known = match (a.as_variable(), number(b), number(a), b.as_variable()) {
                        (Some(name), Some(x), _, _) => Some((name, *function, x)),
                        (_, _, Some(x), Some(name)) => Some((name, turned(*function), x)),
                        _ => None,
                    };
                    let Some((name, function, x)) = known else { return Err(refused(&condition)) };
                    self.add(name, function, x, &condition)?;
                }
                _ => return Err(refused(&condition)),
            }
        }
        Ok(self)
    }

    /// With a variable that is an integer.
    #[must_use]
    pub fn integer(mut self, name: &str) -> Assumptions {
        let facts = self.facts(name);
        self.0.insert(name.to_owned(), Facts { integer: true, ..facts });
        self
    }

    /// What is known of a variable.
    pub fn facts(&self, name: &str) -> Facts {
        // What stands for an array is not one number.
        let otherwise = if name.starts_with('#') { Facts::NONE } else { Facts::REAL };
        self.0.get(name).cloned().unwrap_or(otherwise)
    }

    fn add(&mut self, name: &str, function: Function, x: f64, condition: &Expr) -> Result<(), Error> {
        let mut facts = Facts::REAL;
        if matches!(function, Function::Gt | Function::Ge | Function::Eq) {
            facts.low = x;
        }
        if matches!(function, Function::Lt | Function::Le | Function::Eq) {
            facts.high = x;
        }
        let away = x == 0.0 && matches!(function, Function::Gt | Function::Lt | Function::Ne);
        facts.nonzero = away || facts.low > 0.0 || facts.high < 0.0;
        let known =
            matches!(function, Function::Gt | Function::Ge | Function::Lt | Function::Le | Function::Eq) || away;
        let together = self.facts(name).together(&facts).filter(|_| known);
        let Some(together) = together else {
            let why = if known { "contradicts what was assumed before" } else { "says nothing that is used" };
            return Err(Error::new(ErrorKind::Argument, Pos::unknown(), format!("`{condition}` {why}")));
        };
        self.0.insert(name.to_owned(), together);
        Ok(())
    }
}

fn number(expr: &Expr) -> Option<f64> {
    if let Op::Constant(constant) = expr.op() {
        Some(constant.to_f64())
    } else {
        expr.as_number().map(crate::Number::to_f64)
    }
}

fn turned(function: Function) -> Function {
    const SIDES: [(Function, Function); 4] = [
        (Function::Lt, Function::Gt),
        (Function::Le, Function::Ge),
        (Function::Gt, Function::Lt),
        (Function::Ge, Function::Le),
    ];
    SIDES.iter().find(|(from, _)| *from == function).map_or(function, |(_, to)| *to)
}

fn refused(condition: &Expr) -> Error {
    let message = format!(
        "an assumption compares a variable with a number, such as `x > 0`, or is `integer(n)`; found `{condition}`"
    );
    Error::new(ErrorKind::Argument, Pos::unknown(), message)
}
