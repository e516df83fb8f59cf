//! Tokens of formulas.

use super::Source;
use retrograd::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'s> {
    Number(&'s str),
    Name(&'s str),
    Text(&'s str),
    Symbol(&'static str),
    End,
}

impl Token<'_> {
    /// As messages call it.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Number(text) | Token::Name(text) => format!("`{text}`"),
            Token::Text(text) => format!("\"{text}\""),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// Longer symbols first.
const SYMBOLS: [&str; 22] =
    ["<=", ">=", "==", "!=", "**", "<", ">", "=", "+", "-", "*", "/", "^", "%", "@", "(", ")", "[", "]", ",", ";", "'"];

/// Tokens with the bytes at which they begin.
pub(super) fn tokens(source: Source<'_>) -> Result<Vec<(Token<'_>, usize)>, Error> {
    let text = source.0;
    let (mut tokens, mut at) = (vec![], 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let length = number_length(rest);
            tokens.push((Token::Number(&rest[..length]), at));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push((Token::Name(&rest[..length]), at));
            length
        } else if first == '"' {
            let Some(length) = rest[1..].find('"') else {
                return Err(source.error(at, "this text has no end; close it with `\"`"));
            };
            tokens.push((Token::Text(&rest[1..=length]), at));
            length + 2
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push((Token::Symbol(symbol), at));
            symbol.len()
        } else {
            return Err(source.error(at, format!("`{first}` is not part of the language")));
        };
        at += length;
    }
    tokens.push((Token::End, text.len()));
    Ok(tokens)
}

/// Bytes of the number at the start: digits, a point, an exponent.
pub(super) fn number_length(text: &str) -> usize {
    let digits = |from: usize| from + text[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - from);
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}
