//! Words, values, numbers and marks of the text form, each with its line.

use std::fmt;
use std::sync::Arc;

use crate::ir::error::{Error, ErrorKind, Pos};

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) line: u32,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    /// A name or keyword: `main`, `fn`, `add`.
    Word(&'t str),
    /// A value, without its `%`.
    Value(&'t str),
    /// A number as written.
    Number(&'t str),
    /// Text between quotes, without escapes.
    Text(String),
    /// Punctuation.
    Mark(&'static str),
    /// The end of the text.
    End,
}

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Word(text) | Kind::Number(text) => write!(f, "`{text}`"),
            Kind::Value(name) => write!(f, "`%{name}`"),
            Kind::Text(text) => write!(f, "{text:?}"),
            Kind::Mark(mark) => write!(f, "`{mark}`"),
            Kind::End => f.write_str("the end of the text"),
        }
    }
}

/// Marks; `->` is told from a minus sign first.
const MARKS: [&str; 11] = ["->", "(", ")", "{", "}", "[", "]", ",", ":", "=", "@"];

/// All tokens, with `End` last.
pub(super) fn lex<'t>(text: &'t str, file: &Arc<str>) -> Result<Vec<Token<'t>>, Error> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => {
                line += 1;
                1
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ => {
                let (kind, length) = token(rest)
                    .map_err(|message| Error::new(ErrorKind::Parse, Pos::new(file.clone(), line), message))?;
                tokens.push(Token { kind, line });
                length
            }
        };
        rest = &rest[length..];
    }
    tokens.push(Token { kind: Kind::End, line });
    Ok(tokens)
}

/// The token at the start of the text, and its length in bytes.
fn token(text: &str) -> Result<(Kind<'_>, usize), String> {
    if let Some(mark) = MARKS.into_iter().find(|mark| text.starts_with(mark)) {
        return Ok((Kind::Mark(mark), mark.len()));
    }
    let first = text.chars().next().expect("the caller has seen a character");
    match first {
        '%' => match word_length(&text[1..]) {
            0 => Err("expected the name of a value after `%`".into()),
            length => Ok((Kind::Value(&text[1..=length]), length + 1)),
        },
        '"' => quoted(text),
        '-' | '0'..='9' => match number_length(text) {
            1 if first == '-' => Err("expected a number or `->`, found `-`".into()),
            length => Ok((Kind::Number(&text[..length]), length)),
        },
        'a'..='z' | 'A'..='Z' | '_' => {
            let length = word_length(text);
            Ok((Kind::Word(&text[..length]), length))
        }
        _ => Err(format!("unexpected character {first:?}")),
    }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(text.len())
}

/// A sign, then digits, letters and dots; a sign also after the `e` of an exponent.
fn number_length(text: &str) -> usize {
    let belongs = |(k, c): (usize, u8)| {
        let sign = c == b'-' || c == b'+';
        let exponent = k > 0 && matches!(text.as_bytes()[k - 1], b'e' | b'E');
        c.is_ascii_alphanumeric() || c == b'.' || (sign && (exponent || (k == 0 && c == b'-')))
    };
    text.bytes().enumerate().take_while(|found| belongs(*found)).count()
}

/// Text between quotes, with `\"`, `\\` and `\n`.
fn quoted(text: &str) -> Result<(Kind<'_>, usize), String> {
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Kind::Text(content), at + 1)),
            '\n' => break,
            '\\' => match chars.next() {
                Some((_, 'n')) => content.push('\n'),
                Some((_, escaped @ ('"' | '\\'))) => content.push(escaped),
                _ => return Err("expected `\\\"`, `\\\\` or `\\n` after a backslash".into()),
            },
            _ => content.push(c),
        }
    }
    Err("expected a closing `\"` on the same line".into())
}
