//! Where a NaN or an infinity comes from.

use super::observe::{Event, Observer, Step};
use crate::ir::{Array, Data, Error, ErrorKind, Op, Part};
use crate::ops;

/// Ends a run at the first instruction that makes an infinity out of finite numbers, or a NaN out of numbers.
///
/// What the user wrote or passed in is no find: infinite literals and inputs go on as they are, until they become a
/// NaN.
///
/// ```
/// use retrograd_compiler::eval::{FirstNotFinite, run_observed};
/// use retrograd_compiler::{ir::Array, ops};
/// let text = "fn main(%0: f64[2]) -> f64[2] {\n  %1: f64[2] = log %0\n  return %1\n}";
/// let program = ops::parse(text, "model.rg").unwrap();
/// let error = run_observed(&program, &[Array::f64([2], vec![1.0, 0.0])], &mut FirstNotFinite).unwrap_err();
/// assert_eq!(error.to_string(), "model.rg:2: not finite: `log` made -inf of 0.0 at element [1] (forward)");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FirstNotFinite;

impl Observer for FirstNotFinite {
    fn after(&mut self, event: &Event<'_>) -> Result<(), Error> {
        let Op::Def(def, _) = &event.inst.op else { return Ok(()) };
        if **def == ops::CONSTANT {
            return Ok(());
        }
        let any = |find: fn(f64) -> bool| event.args.iter().any(|array| place(array, find).is_some());
        let made = event.results.iter().find_map(|array| {
            let nan = place(array, f64::is_nan).filter(|_| !any(f64::is_nan));
            let found = nan.or_else(|| place(array, f64::is_infinite).filter(|_| !any(|x| !x.is_finite())));
            found.map(|(at, x)| (array, at, x))
        });
        match made {
            None => Ok(()),
            Some((array, at, x)) => {
                let message = format!("`{}` made {x:?}{}{}", def.name, sources(event, array, at), around(event));
                Err(Error::new(ErrorKind::NotFinite, event.inst.pos.clone(), message))
            }
        }
    }
}

/// The first element that is like that.
fn place(array: &Array, find: fn(f64) -> bool) -> Option<(usize, f64)> {
    match array.data() {
        Data::F64(x) => x.iter().position(|x| find(*x)).map(|at| (at, x[at])),
        Data::F32(x) => x.iter().position(|x| find(f64::from(*x))).map(|at| (at, f64::from(x[at]))),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => None,
    }
}

/// What the element was made of, where each argument has an element for it, and which element it is.
fn sources(event: &Event<'_>, array: &Array, at: usize) -> String {
    let of = |arg: &&Array| (arg.shape() == array.shape()).then(|| element(arg, at));
    let of: Option<Vec<String>> = event.args.iter().map(of).collect();
    let of = of.filter(|of| !of.is_empty()).map_or(String::new(), |of| format!(" of {}", of.join(" and ")));
    if array.shape().is_empty() {
        return of;
    }
    let mut rest = at;
    let mut index: Vec<String> =
        array.shape().iter().rev().map(|extent| (rest % extent, rest /= extent).0.to_string()).collect();
    index.reverse();
    format!("{of} at element [{}]", index.join(", "))
}

fn element(array: &Array, at: usize) -> String {
    match array.data() {
        Data::F32(x) => format!("{:?}", x[at]),
        Data::F64(x) => format!("{:?}", x[at]),
        Data::I32(x) => x[at].to_string(),
        Data::I64(x) => x[at].to_string(),
        Data::Bool(x) => x[at].to_string(),
    }
}

/// The steps of the loops around an instruction, the innermost first, and the part that it belongs to.
fn around(event: &Event<'_>) -> String {
    let step = |Step { inst, index }: &Step<'_>| match inst.pos.is_known() {
        true => format!(", in step i = {index} of the loop at {}", inst.pos),
        false => format!(", in step i = {index} of a loop"),
    };
    let part = match event.inst.pos.part() {
        Part::Forward => "forward",
        Part::Backward => "backward",
    };
    event.steps.iter().rev().map(step).chain([format!(" ({part})")]).collect()
}
