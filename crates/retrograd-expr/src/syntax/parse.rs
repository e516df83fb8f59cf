//! Infix notation, by operator precedence (Pratt, *Top down operator precedence*, 1973).

use std::collections::BTreeMap;
use std::sync::Arc;

use retrograd::Error;

use super::lex::{Token, tokens};
use super::names::{self, Argument};
use super::{Definition, Definitions, Source, checked};
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::Number;

/// Parentheses inside of each other, and whatever else nests. Printing keeps far below, by let-bindings.
const DEPTH: usize = 200;

/// How strongly operators bind, from the weakest; printing follows it.
pub(crate) mod power {
    pub(crate) const OR: u8 = 2;
    pub(crate) const AND: u8 = 4;
    pub(crate) const NOT: u8 = 6;
    pub(crate) const COMPARE: u8 = 8;
    pub(crate) const SUM: u8 = 10;
    pub(crate) const PRODUCT: u8 = 12;
    pub(crate) const NEGATE: u8 = 14;
    pub(crate) const POWER: u8 = 16;
    pub(crate) const ATOM: u8 = 18;
}

struct Parser<'s> {
    source: Source<'s>,
    tokens: Vec<(Token<'s>, usize)>,
    next: usize,
    depth: usize,
    definitions: Definitions,
    lets: BTreeMap<&'s str, Expr>,
}

/// A whole formula.
pub(super) fn formula(text: &str, definitions: &Definitions) -> Result<Expr, Error> {
    let mut parser = Parser::new(text, definitions)?;
    let expr = parser.statements_then(Parser::expression)?;
    checked(parser.source, 0, expr)
}

/// An equation, as the difference of its sides.
pub(super) fn equation(text: &str) -> Result<Expr, Error> {
    let mut parser = Parser::new(text, &Definitions::new())?;
    let expr = parser.statements_then(|parser| {
        let left = parser.expression()?;
        if !parser.take("=") && !parser.take("==") {
            return Ok(left);
        }
        let right = parser.expression()?;
        Ok(if right.is(0) { left } else { left - right })
    })?;
    checked(parser.source, 0, expr)
}

/// A definition such as `f(x, y) = x^2 + y`.
pub(super) fn definition(text: &str, definitions: &Definitions) -> Result<(String, Vec<Arc<str>>, Expr), Error> {
    let mut parser = Parser::new(text, definitions)?;
    parser.take_name("let");
    if !parser.at_definition() {
        return Err(parser.error("expected a definition such as `f(x) = x^2`"));
    }
    let (name, params, body) = parser.definition()?;
    parser.expect_end()?;
    Ok((name.to_owned(), params, body))
}

impl<'s> Parser<'s> {
    fn new(text: &'s str, definitions: &Definitions) -> Result<Parser<'s>, Error> {
        let source = Source(text);
        let tokens = tokens(source)?;
        Ok(Parser { source, tokens, next: 0, depth: 0, definitions: definitions.clone(), lets: BTreeMap::new() })
    }

    /// Let-bindings and definitions, then what is asked for, then the end.
    fn statements_then(&mut self, parse: impl FnOnce(&mut Parser<'s>) -> Result<Expr, Error>) -> Result<Expr, Error> {
        loop {
            let named = self.take_name("let");
            if self.at_definition() {
                let (name, params, body) = self.definition()?;
                self.definitions.functions.insert(name.to_owned(), Definition::Inline { params, body });
            } else if named {
                let name = self.name("a name")?;
                self.expect("=")?;
                let value = self.expression()?;
                self.lets.insert(name, value);
            } else {
                break;
            }
            self.expect(";")?;
        }
        let expr = parse(self)?;
        self.take(";");
        self.expect_end()?;
        Ok(expr)
    }

    /// Whether `name(…) =` stands here.
    fn at_definition(&self) -> bool {
        let symbol = |token: &Token<'_>, symbol: &str| matches!(token, Token::Symbol(found) if *found == symbol);
        let (Token::Name(name), Some([(open, _), rest @ ..])) = (self.token(), self.tokens.get(self.next + 1..)) else {
            return false;
        };
        // `cos(x) = x` is an equation: functions of the language keep their meaning.
        if !symbol(open, "(") || names::is_function(name) {
            return false;
        }
        let close = rest.iter().position(|(token, _)| symbol(token, ")"));
        let params = close.is_some_and(|close| {
            rest[..close].iter().all(|(token, _)| matches!(token, Token::Name(_)) || symbol(token, ","))
        });
        params && close.is_some_and(|close| rest.get(close + 1).is_some_and(|(token, _)| symbol(token, "=")))
    }

    fn definition(&mut self) -> Result<(&'s str, Vec<Arc<str>>, Expr), Error> {
        let name = self.name("a name")?;
        self.expect("(")?;
        let mut params: Vec<&'s str> = vec![];
        while !self.take(")") {
            if !params.is_empty() {
                self.expect(",")?;
            }
            let param = self.name("a parameter")?;
            if params.contains(&param) {
                return Err(self.error(format!("the parameter `{param}` appears twice")));
            }
            params.push(param);
        }
        self.expect("=")?;
        // Parameters hide what was bound before.
        let hidden = self.lets.clone();
        self.lets.retain(|name, _| !params.contains(name));
        let body = self.expression();
        self.lets = hidden;
        Ok((name, params.into_iter().map(Arc::from).collect(), body?))
    }

    fn expression(&mut self) -> Result<Expr, Error> {
        self.binding(0)
    }

    /// An expression whose operators all bind at least so strongly.
    fn binding(&mut self, least: u8) -> Result<Expr, Error> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(format!("nested more than {DEPTH} deep; name parts of it with `let`")));
        }
        let mut left = self.prefix()?;
        while let Some((operator, strength, right_least)) = self.operator() {
            if strength < least {
                break;
            }
            self.next += 1;
            let right = self.binding(right_least)?;
            if strength == power::COMPARE && self.operator().is_some_and(|(_, next, _)| next == power::COMPARE) {
                return Err(self.error("comparisons do not chain; write `a < b and b < c`"));
            }
            left = match operator {
                Operator::Call(function) => Expr::call(function, [left, right]),
                Operator::Remainder => names::remainder(&left, &right),
                Operator::Dot => Expr::new(Op::Array(crate::expr::ArrayOp::Dot), vec![left, right]),
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// The operator that stands here, how strongly it binds, and the least that its right side must bind.
    fn operator(&self) -> Option<(Operator, u8, u8)> {
        use Function::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Pow, Sub};
        let left_first = |function, strength| Some((Operator::Call(function), strength, strength + 1));
        match self.token() {
            Token::Name("or") => left_first(Or, power::OR),
            Token::Name("and") => left_first(And, power::AND),
            Token::Symbol("<") => left_first(Lt, power::COMPARE),
            Token::Symbol("<=") => left_first(Le, power::COMPARE),
            Token::Symbol(">") => left_first(Gt, power::COMPARE),
            Token::Symbol(">=") => left_first(Ge, power::COMPARE),
            Token::Symbol("==") => left_first(Eq, power::COMPARE),
            Token::Symbol("!=") => left_first(Ne, power::COMPARE),
            Token::Symbol("+") => left_first(Add, power::SUM),
            Token::Symbol("-") => left_first(Sub, power::SUM),
            Token::Symbol("*") => left_first(Mul, power::PRODUCT),
            Token::Symbol("/") => left_first(Div, power::PRODUCT),
            Token::Symbol("%") => Some((Operator::Remainder, power::PRODUCT, power::PRODUCT + 1)),
            Token::Symbol("@") => Some((Operator::Dot, power::PRODUCT, power::PRODUCT + 1)),
            // To the right first; its right side may begin with a minus.
            Token::Symbol("^" | "**") => Some((Operator::Call(Pow), power::POWER, power::NEGATE)),
            Token::Number(_) | Token::Name(_) | Token::Text(_) | Token::Symbol(_) | Token::End => None,
        }
    }

    fn prefix(&mut self) -> Result<Expr, Error> {
        let at = self.next;
        self.next += 1;
        let expr = match self.tokens[at].0.clone() {
            Token::Symbol("-") => {
                // `-2^2` is the negative of a power; `-2` alone is a number.
                let operand = self.binding(power::NEGATE)?;
                Expr::call(Function::Neg, [operand])
            }
            Token::Symbol("+") => self.binding(power::NEGATE)?,
            Token::Name("not") => {
                let operand = self.binding(power::NOT)?;
                Expr::call(Function::Not, [operand])
            }
            Token::Number(text) => self.number(text, at)?,
            Token::Symbol("(") => self.parenthesised()?,
            Token::Symbol("[") => Expr::new(Op::Stack, self.list("]")?),
            Token::Name(name) if names::RESERVED.contains(&name) => {
                return Err(self.error_at(at, format!("expected an expression, found `{name}`")));
            }
            Token::Name(name) if self.take("(") => self.called(name, at)?,
            Token::Name(name) => self.lets.get(name).cloned().unwrap_or_else(|| names::variable(name)),
            Token::Text(_) => return Err(self.error_at(at, "a text is an argument of `einsum` only")),
            Token::Symbol(_) | Token::End => {
                let found = self.tokens[at].0.shown();
                return Err(self.error_at(at, format!("expected an expression, found {found}")));
            }
        };
        self.indexed(expr)
    }

    /// `a[i, j]`, as often as it follows; `a'` is a transpose.
    fn indexed(&mut self, mut expr: Expr) -> Result<Expr, Error> {
        loop {
            if self.take("[") {
                let mut args = vec![expr];
                args.extend(self.list("]")?);
                expr = Expr::new(Op::Index, args);
            } else if self.take("'") {
                expr = Expr::new(Op::Array(crate::expr::ArrayOp::Transpose), vec![expr]);
            } else {
                return Ok(expr);
            }
        }
    }

    fn number(&mut self, text: &str, at: usize) -> Result<Expr, Error> {
        let Some(number) = Number::parse(text) else { return Err(self.error_at(at, "this number is too large")) };
        if matches!(self.token(), Token::Name(name) if !["and", "or"].contains(name))
            || *self.token() == Token::Symbol("(")
        {
            return Err(self.error("a product is written with `*`"));
        }
        Ok(Expr::number(number))
    }

    /// `(a)` is a, `(a, b)` the same as `[a, b]`.
    fn parenthesised(&mut self) -> Result<Expr, Error> {
        let mut parts = self.list(")")?;
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::new(Op::Stack, parts) })
    }

    /// At least one expression, between commas, then what closes.
    fn list(&mut self, close: &'static str) -> Result<Vec<Expr>, Error> {
        let mut parts = vec![self.expression()?];
        while !self.take(close) {
            if !self.take(",") {
                return Err(self.expected(&format!("`{close}` or `,`")));
            }
            parts.push(self.expression()?);
        }
        Ok(parts)
    }

    fn called(&mut self, name: &str, at: usize) -> Result<Expr, Error> {
        let mut args = vec![];
        while !self.take(")") {
            if !args.is_empty() && !self.take(",") {
                return Err(self.expected("`)` or `,`"));
            }
            args.push(match self.token() {
                Token::Text(text) => {
                    let text = Arc::from(*text);
                    self.next += 1;
                    Argument::Text(text)
                }
                Token::Number(_) | Token::Name(_) | Token::Symbol(_) | Token::End => Argument::Expr(self.expression()?),
            });
        }
        names::call(name, args, &self.definitions).map_err(|message| self.error_at(at, message))
    }

    fn token(&self) -> &Token<'s> {
        &self.tokens[self.next.min(self.tokens.len() - 1)].0
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(self.token(), Token::Symbol(found) if *found == symbol);
        self.next += usize::from(found);
        found
    }

    fn take_name(&mut self, name: &str) -> bool {
        let found = matches!(self.token(), Token::Name(found) if *found == name);
        self.next += usize::from(found);
        found
    }

    fn name(&mut self, what: &str) -> Result<&'s str, Error> {
        let Token::Name(name) = *self.token() else { return Err(self.expected(what)) };
        if names::RESERVED.contains(&name) || crate::expr::Constant::ALL.iter().any(|constant| constant.name() == name)
        {
            return Err(self.error(format!("`{name}` has a meaning of its own; choose another name")));
        }
        self.next += 1;
        Ok(name)
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Error> {
        if self.take(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    fn expect_end(&self) -> Result<(), Error> {
        if *self.token() == Token::End { Ok(()) } else { Err(self.expected("an operator or the end")) }
    }

    fn expected(&self, what: &str) -> Error {
        self.error(format!("expected {what}, found {}", self.token().shown()))
    }

    /// A mistake at the token that stands here.
    fn error(&self, message: impl AsRef<str>) -> Error {
        self.error_at(self.next, message)
    }

    fn error_at(&self, token: usize, message: impl AsRef<str>) -> Error {
        self.source.error(self.tokens[token.min(self.tokens.len() - 1)].1, message)
    }
}

enum Operator {
    Call(Function),
    Remainder,
    Dot,
}
