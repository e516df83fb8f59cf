//! Text to Programs and literals.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use super::groups;
use super::lex::{Kind, Token, lex};
use crate::ir::array::{Array, Data};
use crate::ir::attr::{Attr, AttrKind, Attrs};
use crate::ir::error::{Error, ErrorKind, Pos};
use crate::ir::op_def::OpDef;
use crate::ir::program::{
    CallOp, CustomRule, ForOp, FuncId, Function, IfOp, Inst, Linearity, Op, Program, UnwindOp, Value, WhileOp,
};
use crate::ir::types::{DType, Type};

/// Reads a Program; `lookup` gives the row of an op, `file` names the text in positions and errors.
///
/// What is read is well formed but not verified: pass it to [`verify`](crate::ir::verify). `ops::parse` knows the
/// built-in rows.
///
/// ```
/// use retrograd_compiler::{ir, ops};
/// let text = "fn main(%x: f64) -> f64 {\n  %y: f64 = exp %x\n  return %y\n}\n";
/// let program = ir::parse(text, "exp.rg", &ops::find).unwrap();
/// assert_eq!(program.to_string(), "fn main(%0: f64) -> f64 {\n  %1: f64 = exp %0\n  return %1\n}\n");
/// ```
pub fn parse(text: &str, file: &str, lookup: &dyn Fn(&str) -> Option<&'static OpDef>) -> Result<Program, Error> {
    let file: Arc<str> = file.into();
    let mut parser = Parser::new(lex(text, &file)?, file, lookup);
    parser.name_functions()?;
    let mut functions = Vec::new();
    while functions.is_empty() || parser.peek() != &Kind::End {
        functions.push(parser.function()?);
    }
    Ok(Program { functions, entry: FuncId(0) })
}

impl FromStr for Array {
    type Err = Error;

    /// Reads a literal of the text form.
    fn from_str(text: &str) -> Result<Array, Error> {
        let file: Arc<str> = "literal".into();
        let mut parser = Parser::new(lex(text, &file)?, file, &|_| None);
        let array = parser.literal()?;
        if parser.peek() == &Kind::End { Ok(array) } else { parser.expected("the end of the literal") }
    }
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    file: Arc<str>,
    lookup: &'t dyn Fn(&str) -> Option<&'static OpDef>,
    /// Every function of the text, by name.
    functions: BTreeMap<&'t str, FuncId>,
    /// Values and their types, of the function being read.
    values: BTreeMap<&'t str, Value>,
    types: Vec<Type>,
}

/// Tokens, and errors that name them.
impl<'t> Parser<'t> {
    fn new(tokens: Vec<Token<'t>>, file: Arc<str>, lookup: &'t dyn Fn(&str) -> Option<&'static OpDef>) -> Parser<'t> {
        Parser { tokens, at: 0, file, lookup, functions: BTreeMap::new(), values: BTreeMap::new(), types: Vec::new() }
    }

    fn peek(&self) -> &Kind<'t> {
        &self.tokens[self.at].kind
    }

    fn line(&self) -> u32 {
        self.tokens[self.at].line
    }

    fn next(&mut self) -> Kind<'t> {
        let kind = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        kind
    }

    fn fail<T>(&self, line: u32, message: String) -> Result<T, Error> {
        Err(Error::new(ErrorKind::Parse, Pos::new(self.file.clone(), line), message))
    }

    /// The error that something else was expected here.
    fn expected<T>(&self, what: &str) -> Result<T, Error> {
        self.fail(self.line(), format!("expected {what}, found {}", self.peek()))
    }

    /// Takes a mark if it is next.
    fn took(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Kind::Mark(next) if *next == mark);
        if found {
            self.next();
        }
        found
    }

    fn mark(&mut self, mark: &str) -> Result<(), Error> {
        if self.took(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    fn word(&mut self, what: &str) -> Result<&'t str, Error> {
        let Kind::Word(word) = *self.peek() else { return self.expected(what) };
        self.next();
        Ok(word)
    }

    fn keyword(&mut self, keyword: &str) -> Result<(), Error> {
        if *self.peek() != Kind::Word(keyword) {
            return self.expected(&format!("`{keyword}`"));
        }
        self.next();
        Ok(())
    }

    /// Items separated by commas, at least one.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let mut items = vec![item(self)?];
        while self.took(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Items separated by commas up to a closing mark.
    fn list_until<T>(&mut self, close: &str, item: impl FnMut(&mut Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        if self.took(close) {
            return Ok(Vec::new());
        }
        let items = self.list(item)?;
        if self.took(close) { Ok(items) } else { self.expected(&format!("`,` or `{close}`")) }
    }

    fn integer<T: FromStr>(&mut self, what: &str) -> Result<T, Error> {
        let Kind::Number(text) = *self.peek() else { return self.expected(what) };
        let Ok(value) = text.parse() else { return self.expected(what) };
        self.next();
        Ok(value)
    }
}

/// Functions and instructions.
impl<'t> Parser<'t> {
    /// Numbers the functions ahead, since a body may be named before it is written.
    fn name_functions(&mut self) -> Result<(), Error> {
        for pair in self.tokens.windows(2) {
            let (Kind::Word("fn"), Kind::Word(name)) = (&pair[0].kind, &pair[1].kind) else { continue };
            let id = FuncId(u32::try_from(self.functions.len()).expect("fewer than 2^32 functions"));
            if self.functions.insert(name, id).is_some() {
                return self.fail(pair[1].line, format!("function `{name}` is defined twice"));
            }
        }
        Ok(())
    }

    fn function(&mut self) -> Result<Function, Error> {
        self.values.clear();
        self.types.clear();
        self.keyword("fn")?;
        let name = self.word("the name of a function")?.to_string();
        self.mark("(")?;
        let params = self.list_until(")", Self::definition)?;
        let params = self.define(params)?;
        let signature = if self.took("->") { self.list(Self::ty)? } else { Vec::new() };
        self.mark("{")?;
        let mut insts = Vec::new();
        while *self.peek() != Kind::Word("return") {
            insts.push(self.instruction()?);
        }
        let line = self.line();
        self.next();
        let results = self.value_list()?;
        let found: Vec<Type> = results.iter().map(|v| self.types[v.0 as usize].clone()).collect();
        if found != signature {
            let names = |types: &[Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return self.fail(
                line,
                format!("`{name}` says that it returns ({}), found ({})", names(&signature), names(&found)),
            );
        }
        self.mark("}")?;
        Ok(Function { name, params, insts, results, types: std::mem::take(&mut self.types) })
    }

    /// `%name: type`, with the line.
    fn definition(&mut self) -> Result<(&'t str, Type, u32), Error> {
        let Kind::Value(name) = *self.peek() else { return self.expected("a value such as `%0`") };
        let line = self.line();
        self.next();
        self.mark(":")?;
        Ok((name, self.ty()?, line))
    }

    fn define(&mut self, definitions: Vec<(&'t str, Type, u32)>) -> Result<Vec<Value>, Error> {
        let mut values = Vec::new();
        for (name, ty, line) in definitions {
            let value = Value(u32::try_from(self.types.len()).expect("fewer than 2^32 values"));
            if self.values.insert(name, value).is_some() {
                return self.fail(line, format!("`%{name}` is defined twice"));
            }
            self.types.push(ty);
            values.push(value);
        }
        Ok(values)
    }

    fn value(&mut self) -> Result<Value, Error> {
        let Kind::Value(name) = *self.peek() else { return self.expected("a value such as `%0`") };
        let Some(value) = self.values.get(name).copied() else {
            return self.fail(self.line(), format!("`%{name}` is read before it is defined"));
        };
        self.next();
        Ok(value)
    }

    /// Values separated by commas, perhaps none; `%a:` is not read but defined, by the next instruction.
    fn value_list(&mut self) -> Result<Vec<Value>, Error> {
        let is_defined = self.tokens.get(self.at + 1).is_some_and(|token| token.kind == Kind::Mark(":"));
        if matches!(self.peek(), Kind::Value(_)) && !is_defined { self.list(Self::value) } else { Ok(Vec::new()) }
    }

    fn instruction(&mut self) -> Result<Inst, Error> {
        let line = self.line();
        let mut results = Vec::new();
        if matches!(self.peek(), Kind::Value(_)) {
            results = self.list(Self::definition)?;
            self.mark("=")?;
        }
        let (op, args) = match self.word("an instruction or `return`")? {
            "if" => self.branch()?,
            "for" => self.counted_loop()?,
            "while" => self.conditional_loop()?,
            "unwind" => self.unwind()?,
            "call" => self.call()?,
            name => self.row(name)?,
        };
        let pos = if self.took("@") { self.position()? } else { Pos::new(self.file.clone(), line) };
        Ok(Inst { op, args, results: self.define(results)?, pos })
    }

    fn position(&mut self) -> Result<Pos, Error> {
        if *self.peek() == Kind::Word("unknown") {
            self.next();
            return Ok(Pos::unknown());
        }
        let Kind::Text(file) = self.peek().clone() else {
            return self.expected("a file between quotes or `unknown` after `@`");
        };
        self.next();
        self.mark(":")?;
        Ok(Pos::new(file, self.integer("a line number")?))
    }

    fn row(&mut self, name: &str) -> Result<(Op, Vec<Value>), Error> {
        let Some(def) = (self.lookup)(name) else {
            let known =
                |name: &str| (self.lookup)(name).is_some() || ["if", "for", "while", "unwind", "call"].contains(&name);
            let hint = nearest(name, &known).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
            return self.fail(self.tokens[self.at - 1].line, format!("unknown op `{name}`{hint}"));
        };
        let args = self.value_list()?;
        let attrs = if self.took("{") { self.attributes(def)? } else { Attrs::none() };
        Ok((Op::Def(def, attrs), args))
    }

    /// Attributes in any order; they are kept in the order of the row.
    fn attributes(&mut self, def: &'static OpDef) -> Result<Attrs, Error> {
        let mut found: Vec<Option<Attr>> = vec![None; def.attrs.len()];
        self.list_until("}", |parser| {
            let key = parser.key(def.name, def.attrs, |key| found[key].is_some())?;
            let kind = AttrKind::of(def.attrs[key]);
            if kind != AttrKind::Flag {
                parser.mark("=")?;
            }
            found[key] = Some(parser.attribute(kind)?);
            Ok(())
        })?;
        let present = def.attrs.iter().zip(found).filter_map(|(name, attr)| attr.map(|attr| (*name, attr)));
        Ok(present.fold(Attrs::none(), |attrs, (name, attr)| attrs.with(name, attr)))
    }

    /// The name of an attribute, as its place among those that there are.
    fn key(&mut self, op: &str, keys: &[&str], is_given: impl Fn(usize) -> bool) -> Result<usize, Error> {
        let Kind::Word(name) = *self.peek() else { return self.expected("the name of an attribute") };
        let Some(place) = keys.iter().position(|key| *key == name) else {
            let known = if keys.is_empty() { "none".into() } else { keys.join(", ") };
            return self.fail(self.line(), format!("`{op}` has no attribute `{name}`; it has {known}"));
        };
        if is_given(place) {
            return self.fail(self.line(), format!("the attribute `{name}` is given twice"));
        }
        self.next();
        Ok(place)
    }

    fn attribute(&mut self, kind: AttrKind) -> Result<Attr, Error> {
        Ok(match kind {
            AttrKind::Ints => {
                self.mark("[")?;
                Attr::Ints(self.list_until("]", |parser| parser.integer("an integer"))?)
            }
            AttrKind::DType => Attr::DType(self.dtype()?),
            AttrKind::Type => Attr::Type(self.ty()?),
            AttrKind::Array => Attr::Array(self.literal()?),
            AttrKind::Text => {
                let Kind::Text(text) = self.peek().clone() else { return self.expected("text between quotes") };
                self.next();
                Attr::Text(text)
            }
            AttrKind::Flag => Attr::Flag,
        })
    }
}

/// Control flow.
impl Parser<'_> {
    fn branch(&mut self) -> Result<(Op, Vec<Value>), Error> {
        let (args, _) = self.headed(groups::IF)?;
        let [then_body, else_body] = self.settings("if", ["then", "else"])?;
        Ok((Op::If(IfOp { then_body: self.body(then_body, "then")?, else_body: self.body(else_body, "else")? }), args))
    }

    fn counted_loop(&mut self) -> Result<(Op, Vec<Value>), Error> {
        let (args, [carries, invariants, _]) = self.headed(groups::FOR)?;
        let [body, bound] = self.settings("for", ["body", "bound"])?;
        let op = ForOp { body: self.body(body, "body")?, carries, invariants, bound: bound.unwrap_or(0) };
        Ok((Op::For(op), args))
    }

    fn unwind(&mut self) -> Result<(Op, Vec<Value>), Error> {
        let (args, [carries, invariants, streams, adjoints, emitted, running]) = self.headed(groups::UNWIND)?;
        let [body, bwd, bound, custom] = self.settings("unwind", ["body", "bwd", "bound", "custom"])?;
        let (body, bwd, bound) = (self.body(body, "body")?, self.body(bwd, "bwd")?, bound.unwrap_or(0));
        let linearity = if custom.unwrap_or(0) == 0 { Linearity::Linear } else { Linearity::Custom };
        Ok((
            Op::Unwind(UnwindOp {
                body,
                bwd,
                carries,
                invariants,
                streams,
                adjoints,
                emitted,
                running,
                bound,
                linearity,
            }),
            args,
        ))
    }

    fn conditional_loop(&mut self) -> Result<(Op, Vec<Value>), Error> {
        let (args, [carries, _]) = self.groups(groups::WHILE)?;
        let [cond, body] = self.settings("while", ["cond", "body"])?;
        Ok((Op::While(WhileOp { cond: self.body(cond, "cond")?, body: self.body(body, "body")?, carries }), args))
    }

    fn call(&mut self) -> Result<(Op, Vec<Value>), Error> {
        let (args, _) = self.groups(groups::CALL)?;
        let [body, forward, backward, tangent] = self.settings("call", ["body", "forward", "backward", "tangent"])?;
        let rule = match (forward.or(backward), tangent) {
            (None, None) => None,
            (None, Some(_)) => Some(CustomRule::Jvp { tangent: self.body(tangent, "tangent")? }),
            (Some(_), None) => Some(CustomRule::Vjp {
                forward: self.body(forward, "forward")?,
                backward: self.body(backward, "backward")?,
            }),
            (Some(_), Some(_)) => {
                let line = self.tokens[self.at - 1].line;
                return self.fail(line, "`call` has either `forward` and `backward` or `tangent`".into());
            }
        };
        Ok((Op::Call(CallOp { body: self.body(body, "body")?, rule }), args))
    }

    /// A value, then labelled groups.
    fn headed<const N: usize>(&mut self, labels: [&str; N]) -> Result<(Vec<Value>, [usize; N]), Error> {
        let first = self.value()?;
        let (rest, lengths) = self.groups(labels)?;
        Ok(([vec![first], rest].concat(), lengths))
    }

    /// Labelled groups in any order: all arguments in the order of the labels, and the length of each group.
    fn groups<const N: usize>(&mut self, labels: [&str; N]) -> Result<(Vec<Value>, [usize; N]), Error> {
        let mut found: [Option<Vec<Value>>; N] = [const { None }; N];
        while let Kind::Word(label) = *self.peek() {
            let Some(place) = labels.iter().position(|known| *known == label) else {
                return self.expected(&format!("one of the groups {}", labels.join(", ")));
            };
            if found[place].is_some() {
                return self.fail(self.line(), format!("the group `{label}` is given twice"));
            }
            self.next();
            self.mark("(")?;
            found[place] = Some(self.list_until(")", Self::value)?);
        }
        let groups = found.map(Option::unwrap_or_default);
        let lengths = groups.each_ref().map(Vec::len);
        Ok((groups.into_iter().flatten().collect(), lengths))
    }

    /// `{key=…}`: bodies by name, the bound of streams and the mark of a custom rule, each as a number.
    fn settings<const N: usize>(&mut self, op: &str, keys: [&str; N]) -> Result<[Option<usize>; N], Error> {
        let mut found = [None; N];
        self.mark("{")?;
        self.list_until("}", |parser| {
            let key = parser.key(op, &keys, |key| found[key].is_some())?;
            parser.mark("=")?;
            found[key] = Some(match keys[key] {
                "bound" => parser.integer("a number of rows")?,
                "custom" => parser.integer("0 or 1")?,
                _ => parser.function_name()?,
            });
            Ok(())
        })?;
        Ok(found)
    }

    fn function_name(&mut self) -> Result<usize, Error> {
        let Kind::Word(name) = *self.peek() else { return self.expected("the name of a function") };
        let Some(id) = self.functions.get(name) else {
            return self.fail(self.line(), format!("there is no function `{name}`"));
        };
        let number = id.0 as usize;
        self.next();
        Ok(number)
    }

    fn body(&self, found: Option<usize>, key: &str) -> Result<FuncId, Error> {
        match found {
            Some(number) => Ok(FuncId(u32::try_from(number).expect("fewer than 2^32 functions"))),
            None => self.fail(
                self.tokens[self.at - 1].line,
                format!("expected `{key}=` and the name of a function before `}}`"),
            ),
        }
    }
}

/// Types and literals.
impl Parser<'_> {
    fn dtype(&mut self) -> Result<DType, Error> {
        let found = match *self.peek() {
            Kind::Word(word) => DType::ALL.into_iter().find(|dtype| dtype.name() == word),
            Kind::Value(_) | Kind::Number(_) | Kind::Text(_) | Kind::Mark(_) | Kind::End => None,
        };
        let Some(dtype) = found else { return self.expected("an element type (f64, i64, bool)") };
        self.next();
        Ok(dtype)
    }

    fn ty(&mut self) -> Result<Type, Error> {
        let dtype = self.dtype()?;
        let shape =
            if self.took("[") { self.list_until("]", |parser| parser.integer("an extent"))? } else { Vec::new() };
        let ty = Type::new(dtype, shape);
        if ty.checked_elements().is_none() {
            return self.fail(self.tokens[self.at - 1].line, format!("{ty} has more elements than memory can hold"));
        }
        Ok(ty)
    }

    /// `f64[2] [1.0, 2.0]`, or a scalar whose type is told by how it is written.
    fn literal(&mut self) -> Result<Array, Error> {
        let ty = match *self.peek() {
            Kind::Word("true" | "false") => Type::scalar(DType::Bool),
            Kind::Word("inf" | "nan") => Type::scalar(DType::F64),
            Kind::Number(text) => Type::scalar(if is_integer(text) { DType::I64 } else { DType::F64 }),
            Kind::Word(_) => self.ty()?,
            Kind::Value(_) | Kind::Text(_) | Kind::Mark(_) | Kind::End => return self.expected("a literal"),
        };
        if ty.rank() > Type::MAX_RANK {
            return self.fail(self.line(), format!("a literal has at most {} axes, found {ty}", Type::MAX_RANK));
        }
        let mut data = match ty.dtype {
            DType::F32 => Data::F32(vec![]),
            DType::F64 => Data::F64(vec![]),
            DType::I32 => Data::I32(vec![]),
            DType::I64 => Data::I64(vec![]),
            DType::Bool => Data::Bool(vec![]),
        };
        if ty.elements() == 0 {
            self.mark("[")?;
            self.mark("]")?;
        } else {
            self.elements(&ty.shape, &mut data)?;
        }
        Ok(Array::new(ty.shape, data))
    }

    fn elements(&mut self, shape: &[usize], data: &mut Data) -> Result<(), Error> {
        let [extent, inner @ ..] = shape else { return self.element(data) };
        self.mark("[")?;
        for k in 0..*extent {
            if k > 0 && !self.took(",") {
                return self.expected(&format!("`,` and element {} of {extent}", k + 1));
            }
            self.elements(inner, data)?;
        }
        if self.took("]") { Ok(()) } else { self.expected(&format!("`]` after {extent} elements")) }
    }

    fn element(&mut self, data: &mut Data) -> Result<(), Error> {
        match data {
            Data::F32(x) => x.push(self.float(
                |bits| u32::try_from(bits).map_or(0.0, f32::from_bits),
                f32::is_nan,
                f32::is_infinite,
            )?),
            Data::F64(x) => x.push(self.float(f64::from_bits, f64::is_nan, f64::is_infinite)?),
            Data::I32(x) => x.push(self.integer("an i32")?),
            Data::I64(x) => x.push(self.integer("an i64")?),
            Data::Bool(x) => {
                let value = *self.peek() == Kind::Word("true");
                if !value && *self.peek() != Kind::Word("false") {
                    return self.expected("`true` or `false`");
                }
                self.next();
                x.push(value);
            }
        }
        Ok(())
    }

    /// A number, `inf`, `nan`, or a NaN by its bits; a number too big for its type is an error, not infinity.
    fn float<T: FromStr + Copy>(
        &mut self,
        from_bits: fn(u64) -> T,
        is_nan: fn(T) -> bool,
        is_infinite: fn(T) -> bool,
    ) -> Result<T, Error> {
        let (Kind::Number(text) | Kind::Word(text @ ("inf" | "nan"))) = *self.peek() else {
            return self.expected("a number");
        };
        let Ok(number) = text.parse::<T>() else { return self.expected("a number") };
        if is_infinite(number) && !text.ends_with("inf") {
            return self.expected("a number that is finite in its type, or `inf`");
        }
        self.next();
        if text != "nan" || !self.took("(") {
            return Ok(number);
        }
        let Kind::Number(bits) = *self.peek() else {
            return self.expected("the bits of a NaN, such as 0x7ff8000000000001");
        };
        let bits = bits.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let Some(number) = bits.map(from_bits).filter(|number| is_nan(*number)) else {
            return self.expected("the bits of a NaN");
        };
        self.next();
        self.mark(")")?;
        Ok(number)
    }
}

fn is_integer(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).bytes().all(|c| c.is_ascii_digit())
}

/// A known name one edit away, or a beginning or end that is one (`multiply` → `mul`).
fn nearest(name: &str, known: &dyn Fn(&str) -> bool) -> Option<String> {
    let splits = || (0..=name.len()).map(|k| name.split_at(k));
    let letters = || (b'a'..=b'z').chain([b'_']).map(char::from);
    let deleted = splits().filter(|(_, end)| !end.is_empty()).map(|(start, end)| format!("{start}{}", &end[1..]));
    let replaced = splits()
        .filter(|(_, end)| !end.is_empty())
        .flat_map(|(start, end)| letters().map(move |c| format!("{start}{c}{}", &end[1..])));
    let inserted = splits().flat_map(|(start, end)| letters().map(move |c| format!("{start}{c}{end}")));
    let swapped = splits()
        .filter(|(_, end)| end.len() > 1)
        .map(|(start, end)| format!("{start}{}{}{}", &end[1..2], &end[..1], &end[2..]));
    let parts = splits()
        .rev()
        .map(|(start, _)| start)
        .chain(splits().map(|(_, end)| end))
        .filter(|part| part.len() > 1)
        .map(str::to_string);
    swapped.chain(deleted).chain(replaced).chain(inserted).chain(parts).find(|candidate| known(candidate))
}
