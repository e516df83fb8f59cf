//! S-expressions: `(+ (* x (sin y)) 1)`. Read with a stack of open lists, so that they nest as deeply as they like.

use std::collections::BTreeMap;

use retrograd::Error;

use super::names::{self, Argument};
use super::{Definitions, Source, checked};
use crate::expr::{Expr, Op};
use crate::function::Function;
use crate::number::Number;

/// An open list: where it began, its first word, and what came since.
struct Open<'s> {
    at: usize,
    head: Head<'s>,
    args: Vec<Argument>,
}

enum Head<'s> {
    /// Nothing yet.
    Missing,
    Word(&'s str),
    /// The bindings of a `let`, in which every list is one binding.
    Bindings,
    /// `(name value)` among the bindings of a `let`.
    Binding(&'s str),
}

/// Reads one S-expression.
pub(super) fn parse(text: &str, definitions: &Definitions) -> Result<Expr, Error> {
    let source = Source(text);
    let mut reader = Reader { source, definitions, open: vec![], lets: BTreeMap::new(), scopes: vec![], done: None };
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some(expr) = reader.done.as_ref().filter(|_| !first.is_whitespace()) {
            return Err(source.error(at, format!("expected the end after `{expr}`")));
        }
        at += match first {
            '(' => {
                reader.open(at);
                1
            }
            ')' => {
                reader.close(at)?;
                1
            }
            '"' => {
                let Some(length) = rest[1..].find('"') else { return Err(source.error(at, "this text has no end")) };
                reader.give(Argument::Text(rest[1..=length].into()), at)?;
                length + 2
            }
            space if space.is_whitespace() => space.len_utf8(),
            _ => {
                let length = rest.find(|c: char| c.is_whitespace() || "()\"".contains(c)).unwrap_or(rest.len());
                reader.word(&rest[..length], at)?;
                length
            }
        };
    }
    let expr = reader.done.ok_or_else(|| source.error(text.len(), "expected `)`, found the end"))?;
    checked(source, 0, expr)
}

struct Reader<'s, 'd> {
    source: Source<'s>,
    definitions: &'d Definitions,
    open: Vec<Open<'s>>,
    lets: BTreeMap<&'s str, Expr>,
    /// What was bound before each `let` that is open.
    scopes: Vec<BTreeMap<&'s str, Expr>>,
    done: Option<Expr>,
}

impl<'s> Reader<'s, '_> {
    fn open(&mut self, at: usize) {
        let head = match self.open.last() {
            // The first list of a `let` holds its bindings.
            Some(Open { head: Head::Word("let"), args, .. }) if args.is_empty() && self.bindings_missing() => {
                Head::Bindings
            }
            Some(_) | None => Head::Missing,
        };
        self.open.push(Open { at, head, args: vec![] });
    }

    /// Whether the innermost `let` has not had its bindings.
    fn bindings_missing(&self) -> bool {
        let lets = self.open.iter().filter(|open| matches!(open.head, Head::Word("let"))).count();
        self.scopes.len() < lets
    }

    fn word(&mut self, word: &'s str, at: usize) -> Result<(), Error> {
        let in_bindings = matches!(self.open.len().checked_sub(2).map(|k| &self.open[k].head), Some(Head::Bindings));
        match self.open.last_mut() {
            Some(open) if matches!(open.head, Head::Missing) => {
                open.head = if in_bindings { Head::Binding(word) } else { Head::Word(word) };
                Ok(())
            }
            Some(_) | None => {
                let expr = self.atom(word, at)?;
                self.give(Argument::Expr(expr), at)
            }
        }
    }

    fn atom(&self, word: &str, at: usize) -> Result<Expr, Error> {
        if let Some(bound) = self.lets.get(word) {
            return Ok(bound.clone());
        }
        if word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            let fine = word.chars().all(|c| c.is_alphanumeric() || c == '_') && !names::RESERVED.contains(&word);
            return if fine {
                Ok(names::variable(word))
            } else {
                Err(self.source.error(at, format!("`{word}` is no name")))
            };
        }
        let number =
            |text: &str| Number::parse(text).filter(|_| text.ends_with(|c: char| c.is_ascii_digit() || c == '.'));
        let parsed = match word.split_once('/') {
            Some((top, bottom)) => {
                number(top).zip(number(bottom)).map(|(top, bottom)| Expr::number(top) / Expr::number(bottom))
            }
            None => number(word).map(Expr::number),
        };
        parsed.ok_or_else(|| self.source.error(at, format!("`{word}` is neither a name nor a number")))
    }

    fn give(&mut self, arg: Argument, at: usize) -> Result<(), Error> {
        match (self.open.last_mut(), arg) {
            (Some(open), arg) if matches!(open.head, Head::Word(_) | Head::Binding(_)) => open.args.push(arg),
            (Some(_), _) => return Err(self.source.error(at, "a list begins with the name of what is applied")),
            (None, Argument::Expr(expr)) => self.done = Some(expr),
            (None, Argument::Text(_)) => return Err(self.source.error(at, "a text is an argument of `einsum` only")),
        }
        Ok(())
    }

    fn close(&mut self, at: usize) -> Result<(), Error> {
        let Some(Open { at: start, head, args }) = self.open.pop() else {
            return Err(self.source.error(at, "this `)` closes nothing"));
        };
        match head {
            Head::Missing => Err(self.source.error(start, "an empty list")),
            Head::Bindings => Ok(()),
            Head::Binding(name) => {
                let [Argument::Expr(value)] = &args[..] else {
                    return Err(self.source.error(start, "a binding is `(name value)`"));
                };
                // The first binding of a `let` opens its scope.
                let lets = self.open.iter().filter(|open| matches!(open.head, Head::Word("let"))).count();
                if self.scopes.len() < lets {
                    self.scopes.push(self.lets.clone());
                }
                self.lets.insert(name, value.clone());
                Ok(())
            }
            Head::Word("let") => {
                let mut args = args;
                let (Some(Argument::Expr(body)), true) = (args.pop(), args.is_empty()) else {
                    return Err(self.source.error(start, "`let` is written `(let ((name value) …) body)`"));
                };
                let lets = self.open.iter().filter(|open| matches!(open.head, Head::Word("let"))).count();
                if self.scopes.len() > lets {
                    self.lets = self.scopes.pop().unwrap_or_default();
                }
                self.give(Argument::Expr(body), start)
            }
            Head::Word(word) => {
                let expr = apply(word, args, self.definitions).map_err(|message| self.source.error(start, message))?;
                self.give(Argument::Expr(expr), start)
            }
        }
    }
}

/// A list: operators take as many arguments as they have, sums and products any number.
fn apply(word: &str, args: Vec<Argument>, definitions: &Definitions) -> Result<Expr, String> {
    let exprs: Vec<Expr> =
        args.iter().filter_map(|arg| if let Argument::Expr(expr) = arg { Some(expr.clone()) } else { None }).collect();
    let count = exprs.len();
    match word {
        "-" | "neg" if count == 1 => Ok(-&exprs[0]),
        "list" if count > 0 => Ok(Expr::new(Op::Stack, exprs)),
        "index" if count > 1 => Ok(Expr::new(Op::Index, exprs)),
        "+" | "*" if count > 2 => {
            let function = if word == "+" { Function::Add } else { Function::Mul };
            Ok(exprs.into_iter().reduce(|a, b| Expr::call(function, [a, b])).expect("more than two"))
        }
        _ => match Function::find(word).filter(|function| !function.is_named() && word != "pow") {
            Some(function) if function.row().arity == count => Ok(Expr::new(Op::Call(function), exprs)),
            Some(function) => Err(format!("`{word}` takes {} arguments, found {count}", function.row().arity)),
            None => names::call(word, args, definitions),
        },
    }
}
