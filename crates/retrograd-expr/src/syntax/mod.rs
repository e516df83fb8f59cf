//! Reading: formulas in infix notation, and S-expressions.

mod lex;
mod names;
mod parse;
mod sexpr;

pub(crate) use parse::power;

use std::collections::BTreeMap;
use std::sync::Arc;

use retrograd::{Error, ErrorKind, Pos};

use crate::dag::{check_indices, free_vars};
use crate::expr::{Custom, Expr};

/// A text that is being read; mistakes are shown in it.
#[derive(Clone, Copy, Debug)]
struct Source<'s>(&'s str);

impl Source<'_> {
    /// A mistake at a byte: the message, the line, and a caret below.
    fn error(self, offset: usize, message: impl AsRef<str>) -> Error {
        let before = &self.0[..offset.min(self.0.len())];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.0[line_start..].lines().next().unwrap_or_default();
        let number = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count();
        let message = format!("{}\n  {line}\n  {}^", message.as_ref(), " ".repeat(column));
        Error::new(ErrorKind::Parse, Pos::new("expression", u32::try_from(number).unwrap_or(u32::MAX)), message)
    }
}

/// Functions that formulas may use besides those of the language, some with derivatives of their own.
///
/// They hold for what is read with them and nowhere else.
///
/// ```
/// use retrograd_expr::{Bindings, Definitions, Expr, gradient};
/// // A step whose cotangent passes as if it were the identity.
/// let scope = Definitions::new().function("gauss(x) = exp(-x^2)")?.vjp("step(x) = if(x > 0, 1, 0)", &["ct"])?;
/// let f = Expr::parse_with("3*step(x) + gauss(0)", &scope)?;
/// assert_eq!(gradient(&f, &["x"], &Bindings::from([("x", 0.5)]))?[0].as_f64(), [3.0]);
/// assert!(Expr::parse("step(x)").is_err());
/// # Ok::<(), retrograd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    functions: BTreeMap<String, Definition>,
}

#[derive(Clone, Debug)]
enum Definition {
    /// A call is the body with its parameters replaced.
    Inline {
        params: Vec<Arc<str>>,
        body: Expr,
    },
    Custom(Arc<Custom>),
}

impl Definitions {
    /// None.
    pub fn new() -> Definitions {
        Definitions::default()
    }

    /// With a function: `f(x, y) = x^2 + y`.
    pub fn function(mut self, text: &str) -> Result<Definitions, Error> {
        let (name, params, body) = parse::definition(text, &self)?;
        self.functions.insert(name, Definition::Inline { params, body });
        Ok(self)
    }

    /// With a function whose derivative is stated: for each parameter its cotangent, of the parameters, the result `r`
    /// and its cotangent `ct`. As in JAX, forward mode refuses it, and so does `diff` where the cotangents are not
    /// products with `ct`.
    pub fn vjp(mut self, text: &str, backward: &[&str]) -> Result<Definitions, Error> {
        let (name, params, body) = parse::definition(text, &self)?;
        if backward.len() != params.len() {
            let message = format!(
                "`{name}` has {} parameters and {} cotangents; state one for each",
                params.len(),
                backward.len()
            );
            return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
        }
        let backward = backward.iter().map(|text| Expr::parse_with(text, &self)).collect::<Result<Vec<_>, _>>()?;
        for name in free_vars(&backward) {
            if !params.contains(&name) && &*name != "r" && &*name != "ct" {
                let message = format!("a cotangent reads `{name}`; it may read the parameters, `r` and `ct`");
                return Err(Error::new(ErrorKind::Argument, Pos::unknown(), message));
            }
        }
        let custom = Custom { name: name.as_str().into(), params, body, backward };
        self.functions.insert(name, Definition::Custom(Arc::new(custom)));
        Ok(self)
    }
}

impl Expr {
    /// Reads a formula: infix such as `x*sin(y)^2`, or an S-expression such as `(* x (sin y))`.
    ///
    /// Statements may come before it: `let a = x + 1; f(u) = u^2; f(a) + f(2*a)`. A mistake is shown with a caret.
    ///
    /// ```
    /// use retrograd_expr::Expr;
    /// assert_eq!(Expr::parse("(+ (* x (sin y)) 1)")?, Expr::parse("x*sin(y) + 1")?);
    /// assert_eq!(Expr::parse("let a = x + 1; f(u) = u^2; f(a) + a")?.to_string(), "(x + 1)^2 + (x + 1)");
    /// assert_eq!(Expr::parse("diff(x^3, x)")?.to_string(), "3*x^2");
    /// let error = Expr::parse("x + sin(y").unwrap_err();
    /// assert_eq!(error.to_string(), "expression:1: parse error: expected `)` or `,`, found the end\n  x + sin(y\n           ^");
    /// # Ok::<(), retrograd::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Expr, Error> {
        Expr::parse_with(text, &Definitions::new())
    }

    /// Reads a formula that may use these functions.
    pub fn parse_with(text: &str, definitions: &Definitions) -> Result<Expr, Error> {
        // `(sin (cos x))` is both; who begins with a list means one.
        let list = text.trim_start().strip_prefix('(').map(|inside| (inside, sexpr::parse(text, definitions)));
        match list {
            Some((_, Ok(expr))) => Ok(expr),
            // What begins with an operator was meant as an S-expression.
            Some((inside, Err(error))) if inside.trim_start().starts_with(['+', '*', '/', '^']) => Err(error),
            Some((_, Err(_))) | None => parse::formula(text, definitions),
        }
    }

    /// Reads an equation `left = right` as `left - right`, or a formula that is to be 0.
    pub fn parse_equation(text: &str) -> Result<Expr, Error> {
        parse::equation(text)
    }
}

/// What is wrong with the indices of sums in an expression.
fn checked(source: Source<'_>, offset: usize, expr: Expr) -> Result<Expr, Error> {
    match check_indices(&expr) {
        None => Ok(expr),
        Some(name) => Err(source
            .error(offset, format!("`{name}` is an index and has another meaning, too; give the index another name"))),
    }
}
