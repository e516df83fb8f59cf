//! Commands on formulas: values, derivatives, simpler forms, and why they are equal.

use std::fmt::Write;
use std::io::Read;

use clap::{Args, ValueEnum};
use retrograd::{Array, Error};
use retrograd_expr::{
    Assumptions, Bindings, Cost, Expr, Root, Simplifier, bisect, collect, diff, evaluate, expand, gradient, graph,
    hessian, most_accurate, newton, plot, solve,
};

use crate::source::argument;

/// A formula and what is said about it.
#[derive(Debug, Args)]
pub(crate) struct Formula {
    /// A formula such as "x*sin(y)^2" or "(* x (sin y))"; `-` is standard input
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) options: FormulaOptions,
}

#[derive(Debug, Default, Args)]
pub(crate) struct FormulaOptions {
    /// Values of variables: x=1,y=2; a list is an array: v=[1,2,3]
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// What is known of variables, such as "x > 0"; may be repeated
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) assume: Vec<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) form: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Formulas in infix notation, numbers and lists
    #[default]
    Text,
    /// S-expressions
    Sexpr,
    /// JSON
    Json,
    /// LaTeX
    Latex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Best {
    /// Fewest operations
    Size,
    /// Fewest operations inside of each other
    Depth,
    /// Least measured work
    Work,
}

/// Whether what is given where a file can stand is a formula.
pub(crate) fn is_formula(path: &std::path::Path, options: &FormulaOptions) -> bool {
    let text = path.to_string_lossy();
    options.at.is_some() || (text != "-" && !text.ends_with(".rg") && !path.exists())
}

impl Formula {
    fn read(&self) -> Result<Expr, Error> {
        read(&self.text)
    }

    pub(crate) fn eval(&self) -> Result<String, Error> {
        let value = evaluate(&self.read()?, &self.options.bindings()?)?;
        Ok(self.options.form.named(&[("value".into(), value)]))
    }

    /// Derivatives by each of the variables, simplified.
    pub(crate) fn diff(&self, wrt: Option<&[String]>, order: usize) -> Result<String, Error> {
        let expr = self.read()?;
        let mut found = vec![];
        let simplifier = self.options.simplifier(Cost::Size)?;
        for name in chosen(&expr, wrt) {
            // Simplified after each step, so that those of high order stay small.
            let derivative = (0..order).try_fold(expr.clone(), |expr, _| simplifier.simplify(&diff(&expr, &name)?))?;
            found.push((name, derivative));
        }
        Ok(self.options.form.formulas(&found))
    }

    pub(crate) fn hessian(&self, wrt: Option<&[String]>) -> Result<String, Error> {
        let expr = self.read()?;
        let names = chosen(&expr, wrt);
        let wrt: Vec<&str> = names.iter().map(String::as_str).collect();
        let blocks = hessian(&expr, &wrt, &self.options.bindings()?)?;
        let named = |(i, row): (usize, Vec<Array>)| {
            let name = names[i].clone();
            row.into_iter()
                .zip(&names)
                .map(move |(block, other)| (format!("{name},{other}"), block))
                .collect::<Vec<_>>()
        };
        Ok(self.options.form.named(&blocks.into_iter().enumerate().flat_map(named).collect::<Vec<_>>()))
    }

    pub(crate) fn simplify(&self, best: Best, accuracy: &[String]) -> Result<String, Error> {
        let expr = self.read()?;
        let cost = match best {
            Best::Size => Cost::Size,
            Best::Depth => Cost::Depth,
            Best::Work => Cost::Work,
        };
        let simplifier = self.options.simplifier(cost)?;
        if accuracy.is_empty() {
            return Ok(self.options.form.formula(&simplifier.simplify(&expr)?));
        }
        let ranges = accuracy.iter().map(|text| range(text)).collect::<Result<Vec<_>, _>>()?;
        let ranges: Vec<(&str, f64, f64)> =
            ranges.iter().map(|(name, low, high)| (name.as_str(), *low, *high)).collect();
        Ok(self.options.form.formula(&most_accurate(&simplifier, &expr, &ranges)?.0))
    }

    pub(crate) fn expand(&self, by: Option<&str>) -> Result<String, Error> {
        let expr = self.read()?;
        Ok(self.options.form.formula(&by.map_or_else(|| expand(&expr), |name| collect(&expr, name))))
    }

    /// Real solutions, one a line.
    pub(crate) fn solve(&self, wrt: Option<&str>, between: Option<&str>, near: Option<f64>) -> Result<String, Error> {
        let expr = Expr::parse_equation(&text_of(&self.text)?)?;
        let names = expr.free_vars();
        let name = match (wrt, &names[..]) {
            (Some(name), _) => name,
            (None, [name]) => name,
            (None, _) => {
                return Err(argument(format!("the equation has {} variables; say which with --wrt", names.len())));
            }
        };
        if let Some(range) = between {
            let (_, low, high) = self::range(&format!("{name}={range}"))?;
            return Ok(format!("{}\n", bisect(&expr, name, low, high)?));
        }
        if let Some(start) = near {
            return Ok(format!("{}\n", newton(&expr, name, start)?));
        }
        if self.options.form == Form::Json {
            let root = |root: Root| {
                let unless =
                    root.unless_zero.map_or_else(|| "null".to_owned(), |leading| self.options.form.shown(&leading));
                format!("{{\"{name}\": {}, \"unless_zero\": {unless}}}", self.options.form.shown(&root.value))
            };
            return Ok(format!("[{}]\n", solve(&expr, name)?.into_iter().map(root).collect::<Vec<_>>().join(", ")));
        }
        let shown = |root: Root| match root.unless_zero {
            Some(leading) => format!(
                "{}    where {} is not 0\n",
                self.options.form.shown(&root.value),
                self.options.form.shown(&leading)
            ),
            None => self.options.form.formula(&root.value),
        };
        Ok(solve(&expr, name)?.into_iter().map(shown).collect())
    }

    pub(crate) fn plot(&self, range: &str, order: usize, svg: bool) -> Result<String, Error> {
        let (_, low, high) = self::range(&format!("x={range}"))?;
        let curves = plot(&self.read()?, (low, high), order)?;
        Ok(if svg { curves.to_svg() } else { curves.to_text() })
    }

    pub(crate) fn graph(&self, svg: bool) -> Result<String, Error> {
        let graph = graph(&self.read()?)?;
        Ok(if svg { graph.to_svg() } else { graph.to_dot() })
    }

    pub(crate) fn explain(&self) -> Result<String, Error> {
        let (form, explanation) = (self.options.form, self.options.simplifier(Cost::Size)?.explain(&self.read()?)?);
        Ok(match form {
            Form::Text => explanation.to_string(),
            Form::Json => {
                let step = |(expr, why): &(Expr, String)| {
                    format!("{{\"form\": {}, \"because\": {}}}", form.shown(expr), json(why))
                };
                let steps: Vec<String> = explanation.steps.iter().map(step).collect();
                format!("{{\"start\": {}, \"steps\": [{}]}}\n", form.shown(&explanation.start), steps.join(", "))
            }
            Form::Sexpr | Form::Latex => {
                let step = |(expr, why): &(Expr, String)| format!("= {}    ({why})\n", form.shown(expr));
                format!(
                    "  {}\n{}",
                    form.shown(&explanation.start),
                    explanation.steps.iter().map(step).collect::<String>()
                )
            }
        })
    }
}

/// The value and the gradient of a formula.
pub(crate) fn grad(text: &str, wrt: Option<&[String]>, options: &FormulaOptions) -> Result<String, Error> {
    let expr = read(text)?;
    let (names, bindings) = (chosen(&expr, wrt), options.bindings()?);
    let wrt: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut named = vec![("value".to_owned(), evaluate(&expr, &bindings)?)];
    named.extend(names.iter().cloned().zip(gradient(&expr, &wrt, &bindings)?));
    Ok(options.form.named(&named))
}

fn read(text: &str) -> Result<Expr, Error> {
    Expr::parse(&text_of(text)?)
}

/// The text itself, or standard input.
fn text_of(text: &str) -> Result<String, Error> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut input = String::new();
    std::io::stdin()
        .read_to_string(&mut input)
        .map_err(|error| argument(format!("cannot read standard input: {error}")))?;
    Ok(input)
}

/// The variables asked for, or all.
fn chosen(expr: &Expr, wrt: Option<&[String]>) -> Vec<String> {
    wrt.map_or_else(|| expr.free_vars(), <[String]>::to_vec)
}

/// `x=1:10`.
fn range(text: &str) -> Result<(String, f64, f64), Error> {
    let parts = text.split_once('=').and_then(|(name, range)| Some((name, range.split_once(':')?)));
    let parsed = parts.and_then(|(name, (low, high))| {
        Some((name.trim().to_owned(), low.trim().parse().ok()?, high.trim().parse().ok()?))
    });
    parsed
        .filter(|(_, low, high)| low < high)
        .ok_or_else(|| argument(format!("a range is written x=1:10, found `{text}`")))
}

impl FormulaOptions {
    fn simplifier(&self, cost: Cost) -> Result<Simplifier, Error> {
        let assumptions = self.assume.iter().try_fold(Assumptions::new(), |known, text| known.assume(text))?;
        Ok(Simplifier { assumptions, cost, ..Simplifier::default() })
    }

    /// Values are formulas without variables, so that `x=pi/2` works.
    fn bindings(&self) -> Result<Bindings, Error> {
        let mut bindings = Bindings::new();
        for part in split(self.at.as_deref().unwrap_or_default()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(argument(format!("values are written x=1,y=2; found `{part}`")));
            };
            bindings = bindings.with(name.trim(), evaluate(&Expr::parse(value)?, &Bindings::new())?);
        }
        Ok(bindings)
    }
}

/// At commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (vec![], 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

impl Form {
    fn shown(self, expr: &Expr) -> String {
        match self {
            Form::Text => expr.to_string(),
            Form::Sexpr => expr.to_sexpr(),
            Form::Latex => expr.to_latex(),
            Form::Json => json(&expr.to_string()),
        }
    }

    fn formula(self, expr: &Expr) -> String {
        self.shown(expr) + "\n"
    }

    /// One formula as it is, several by name.
    fn formulas(self, all: &[(String, Expr)]) -> String {
        let line = |(name, expr): &(String, Expr)| match self {
            Form::Json => format!("{}: {}", json(name), self.shown(expr)),
            Form::Text | Form::Sexpr | Form::Latex => format!("{name}: {}", self.shown(expr)),
        };
        match (self, all) {
            (Form::Json, _) => format!("{{{}}}\n", all.iter().map(line).collect::<Vec<_>>().join(", ")),
            (_, [(_, one)]) => self.formula(one),
            _ => all.iter().map(|row| line(row) + "\n").collect(),
        }
    }

    fn named(self, all: &[(String, Array)]) -> String {
        let mut out = String::new();
        match (self, all) {
            (Form::Json, _) => {
                let fields: Vec<String> =
                    all.iter().map(|(name, array)| format!("{}: {}", json(name), self.array(array))).collect();
                let _ = writeln!(out, "{{{}}}", fields.join(", "));
            }
            (_, [(_, one)]) => {
                let _ = writeln!(out, "{}", self.array(one));
            }
            _ => all.iter().for_each(|(name, array)| {
                let _ = writeln!(out, "{name}: {}", self.array(array));
            }),
        }
        out
    }

    /// A number, or lists of them; JSON has no NaN.
    fn array(self, array: &Array) -> String {
        let number = |x: f64| match self {
            Form::Json if !x.is_finite() => "null".to_owned(),
            Form::Latex if x.is_infinite() => if x > 0.0 { "\\infty" } else { "-\\infty" }.to_owned(),
            Form::Text | Form::Sexpr | Form::Json | Form::Latex => format!("{x}"),
        };
        let all: Vec<String> = match array.data() {
            retrograd::Data::F32(x) => x.iter().map(|x| number(f64::from(*x))).collect(),
            retrograd::Data::F64(x) => x.iter().map(|x| number(*x)).collect(),
            retrograd::Data::I32(x) => x.iter().map(ToString::to_string).collect(),
            retrograd::Data::I64(x) => x.iter().map(ToString::to_string).collect(),
            retrograd::Data::Bool(x) => x.iter().map(ToString::to_string).collect(),
        };
        match (self, array.shape()) {
            (Form::Latex, [_]) => format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", all.join(" \\\\ ")),
            (Form::Latex, [_, columns]) => {
                let rows: Vec<String> = all.chunks((*columns).max(1)).map(|row| row.join(" & ")).collect();
                format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\ "))
            }
            (_, shape) => nested(shape, &all),
        }
    }
}

/// Lists of lists.
fn nested(shape: &[usize], numbers: &[String]) -> String {
    match shape {
        [] => numbers[0].clone(),
        [count, rest @ ..] => {
            let size = numbers.len() / (*count).max(1);
            let rows: Vec<String> = (0..*count).map(|k| nested(rest, &numbers[k * size..(k + 1) * size])).collect();
            format!("[{}]", rows.join(", "))
        }
    }
}

/// A text of JSON.
fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
