//! What names mean: functions of the language, forms that are expanded as they are read, and functions of the user.

use std::sync::Arc;

use retrograd::Error;

use super::{Definition, Definitions};
use crate::derivative::{diff, diff_order};
use crate::expr::{ArrayOp, Constant, Expr, Fold, Op};
use crate::function::Function;

/// What is called with arguments.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Expr(Expr),
    /// The subscripts of `einsum`.
    Text(Arc<str>),
}

/// The variable or constant of that name.
pub(super) fn variable(name: &str) -> Expr {
    let constant = Constant::ALL.into_iter().find(|constant| constant.name() == name);
    constant.map_or_else(|| Expr::variable(name), Expr::constant)
}

/// What a call gives, or what is wrong with it.
pub(super) fn call(name: &str, args: Vec<Argument>, definitions: &Definitions) -> Result<Expr, String> {
    if name == "einsum" {
        return einsum(args);
    }
    let text = |arg: &Argument| matches!(arg, Argument::Text(_));
    if args.iter().any(text) {
        return Err(format!("`{name}` takes no text; only `einsum` does"));
    }
    let args: Vec<Expr> =
        args.into_iter().filter_map(|arg| if let Argument::Expr(expr) = arg { Some(expr) } else { None }).collect();
    if let Some(definition) = definitions.functions.get(name) {
        return defined(name, definition, args);
    }
    match (name, args.len()) {
        ("sum" | "prod", 4) => fold(if name == "sum" { Fold::Sum } else { Fold::Product }, args),
        ("piecewise", count) if count % 2 == 1 => Ok(piecewise(args)),
        ("piecewise", _) => Err("`piecewise` takes pairs of a condition and a value, then the value elsewhere".into()),
        ("diff", 2 | 3) => differentiated(args),
        ("grad", count) if count > 0 => gradient(args),
        ("mod", 2) => Ok(remainder(&args[0], &args[1])),
        ("stop_gradient", 1) => Ok(Expr::new(Op::StopGradient, args)),
        ("max" | "min", 3..) => Ok(of_many(name, args)),
        _ => of_table(name, args),
    }
}

/// Words that are no names.
pub(super) const RESERVED: [&str; 4] = ["let", "and", "or", "not"];

/// Whether the language has a function of that name.
pub(super) fn is_function(name: &str) -> bool {
    Function::find(name).is_some() || ArrayOp::ALL.iter().any(|array| array.name() == name)
}

/// A call of a function of the language.
fn of_table(name: &str, args: Vec<Expr>) -> Result<Expr, String> {
    let array = ArrayOp::ALL.into_iter().find(|array| array.name() == name);
    let function = Function::find(name).filter(|function| function.is_named() || name == "pow");
    let (op, arity) = match (array, function) {
        (Some(array), _) => (Op::Array(array), array.arity()),
        (None, Some(function)) => (Op::Call(function), function.row().arity),
        (None, None) => return Err(unknown(name)),
    };
    if args.len() != arity {
        return Err(format!(
            "`{name}` takes {arity} argument{}, found {}",
            if arity == 1 { "" } else { "s" },
            args.len()
        ));
    }
    Ok(Expr::new(op, args))
}

fn unknown(name: &str) -> String {
    let forms = ["piecewise", "diff", "grad", "mod", "stop_gradient", "einsum"];
    let named = Function::ALL.iter().map(|function| function.row().name).filter(|name| name.len() > 1);
    let all = named.chain(ArrayOp::ALL.iter().map(|array| array.name())).chain(forms);
    let near =
        all.map(|known| (distance(known, name), known)).min().filter(|(distance, known)| *distance <= known.len() / 2);
    match near {
        Some((_, known)) => format!("there is no function `{name}`; did you mean `{known}`?"),
        None => format!("there is no function `{name}`; for a product write `*`"),
    }
}

/// Edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn defined(name: &str, definition: &Definition, args: Vec<Expr>) -> Result<Expr, String> {
    let params = match definition {
        Definition::Inline { params, .. } => params,
        Definition::Custom(custom) => &custom.params,
    };
    if args.len() != params.len() {
        return Err(format!("`{name}` takes {} arguments, found {}", params.len(), args.len()));
    }
    Ok(match definition {
        Definition::Inline { params, body } => {
            body.substitute(&params.iter().map(|name| &**name).zip(args).collect::<Vec<_>>())
        }
        Definition::Custom(custom) => Expr::new(Op::Custom(custom.clone()), args),
    })
}

fn einsum(args: Vec<Argument>) -> Result<Expr, String> {
    let mut args = args.into_iter();
    let Some(Argument::Text(subscripts)) = args.next() else {
        return Err("`einsum` takes subscripts such as \"ij,j->i\", then arrays".into());
    };
    let arrays: Option<Vec<Expr>> =
        args.map(|arg| if let Argument::Expr(expr) = arg { Some(expr) } else { None }).collect();
    let arrays = arrays.filter(|arrays| !arrays.is_empty()).ok_or("`einsum` takes arrays after its subscripts")?;
    Ok(Expr::new(Op::Einsum(subscripts), arrays))
}

fn fold(fold: Fold, mut args: Vec<Expr>) -> Result<Expr, String> {
    let index = args.remove(1);
    let Some(index) = index.as_variable() else {
        return Err(format!(
            "`{}` over an index is written `{0}(body, k, low, high)`; `{index}` is no name",
            fold.name()
        ));
    };
    Ok(Expr::new(Op::Fold(fold, index.clone()), args))
}

fn piecewise(mut args: Vec<Expr>) -> Expr {
    let mut value = args.pop().expect("an odd number");
    while let (Some(then), Some(condition)) = (args.pop(), args.pop()) {
        value = Expr::call(Function::Select, [condition, then, value]);
    }
    value
}

fn of_many(name: &str, args: Vec<Expr>) -> Expr {
    let function = if name == "max" { Function::Max } else { Function::Min };
    args.into_iter().reduce(|a, b| Expr::call(function, [a, b])).expect("at least three")
}

/// a − b ⌊a / b⌋: the remainder with the sign of b, as Python's `%`.
pub(super) fn remainder(a: &Expr, b: &Expr) -> Expr {
    a - b * Expr::call(Function::Floor, [a / b])
}

fn differentiated(args: Vec<Expr>) -> Result<Expr, String> {
    const ORDER: i64 = 20;
    let Some(name) = args[1].as_variable() else { return Err(format!("`diff` is by a variable, found `{}`", args[1])) };
    let order = match args.get(2) {
        None => 1,
        Some(order) => match order.as_integer() {
            Some(order @ 0..=ORDER) => order,
            Some(_) | None => {
                return Err(format!("the order of a derivative is an integer from 0 to {ORDER}, found `{order}`"));
            }
        },
    };
    diff_order(&args[0], name, usize::try_from(order).unwrap_or(0)).map_err(|error| error.message)
}

fn gradient(mut args: Vec<Expr>) -> Result<Expr, String> {
    let expr = args.remove(0);
    let names: Vec<String> = if args.is_empty() {
        expr.free_vars()
    } else {
        let name = |arg: &Expr| {
            arg.as_variable().map(ToString::to_string).ok_or(format!("`grad` is by variables, found `{arg}`"))
        };
        args.iter().map(name).collect::<Result<_, _>>()?
    };
    if names.is_empty() {
        return Err("`grad` of an expression without variables".into());
    }
    let parts = names.iter().map(|name| diff(&expr, name)).collect::<Result<Vec<_>, Error>>();
    Ok(Expr::new(Op::Stack, parts.map_err(|error| error.message)?))
}
