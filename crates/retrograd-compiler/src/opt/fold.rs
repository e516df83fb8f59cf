//! Constants fold, and identities of rows are a table: one line per law.
//!
//! Every law holds bit for bit, on NaN, infinities and both zeros, or it is not here: x + 0 is not x (-0 + 0 = 0), x ·
//! 0 is not 0 (∞ · 0 is a NaN), -1 · x is not -x (a NaN keeps its sign under the product). Of NaNs, the laws leave a
//! signalling one signalling.

use super::edit::{Editor, literal, repeat};
use super::functions::edit;
use crate::ir::{Array, Attrs, Data, Element, Inst, Lowering, Op, OpDef, Program, Type, Value, View, each_element};
use crate::ops;

/// Folds constants and applies identities.
pub fn fold(program: &mut Program) -> bool {
    edit(program, |_, function| {
        let mut editor = Editor::new(function);
        for inst in &function.insts {
            match &inst.op {
                Op::Def(def, attrs) => fold_row(&mut editor, inst, def, attrs, function.ty(inst.results[0])),
                Op::If(_) | Op::For(_) | Op::While(_) | Op::Unwind(_) | Op::Call(_) => editor.copy(inst),
            }
        }
        editor.finish()
    })
}

/// Literals of more elements are not made: code is not the place for data.
const LITERAL_ELEMENTS: usize = 16;

fn fold_row(editor: &mut Editor<'_>, inst: &Inst, def: &'static OpDef, attrs: &Attrs, ty: &Type) {
    let args = editor.values(&inst.args);
    let new = match becomes(&Site { editor, def, attrs, args: &args, ty }) {
        None => return editor.copy(inst),
        Some(Becomes::Value(value)) => value,
        Some(Becomes::Op(def, attrs, args)) => {
            let value = editor.op(def, attrs, args, ty.clone(), &inst.pos);
            return editor.bind(inst.results[0], value);
        }
        Some(Becomes::Transposed(def, attrs, args, axes)) => {
            let mut shape = ty.shape.clone();
            axes.iter().zip(&ty.shape).for_each(|(axis, extent)| shape[*axis] = *extent);
            let value = editor.op(def, attrs, args, Type::new(ty.dtype, shape), &inst.pos);
            editor.op(&ops::TRANSPOSE, Attrs::none().ints("axes", axes), vec![value], ty.clone(), &inst.pos)
        }
        Some(Becomes::Number(number)) => editor.full(number, &ty.shape, &inst.pos),
    };
    editor.bind(inst.results[0], new);
}

/// A row about to be placed, over new values.
struct Site<'a, 'f> {
    editor: &'a Editor<'f>,
    def: &'static OpDef,
    attrs: &'a Attrs,
    args: &'a [Value],
    ty: &'a Type,
}

/// What takes the place of a row.
enum Becomes {
    /// A value that is there.
    Value(Value),
    /// Another row.
    Op(&'static OpDef, Attrs, Vec<Value>),
    /// Another row, and its axes in another order.
    Transposed(&'static OpDef, Attrs, Vec<Value>, Vec<usize>),
    /// This number, everywhere.
    Number(Array),
}

/// The last of a chain of rewrites; each goes to an earlier value or to a simpler row, so the chain ends.
fn becomes(site: &Site<'_, '_>) -> Option<Becomes> {
    let laws = REWRITES.iter().filter(|rewrite| rewrite.def == site.def);
    let next = constant(site).or_else(|| laws.into_iter().find_map(|rewrite| (rewrite.apply)(site)))?;
    match &next {
        Becomes::Op(def, attrs, args) => Some(becomes(&Site { def, attrs, args, ..*site }).unwrap_or(next)),
        Becomes::Value(_) | Becomes::Transposed(..) | Becomes::Number(_) => Some(next),
    }
}

/// A NaN stays where it arises: 0 · ∞ is linear in a cotangent that happens to be 0, a literal NaN is not.
fn has_nan(array: &Array) -> bool {
    match array.data() {
        Data::F32(x) => x.iter().any(|x| x.is_nan()),
        Data::F64(x) => x.iter().any(|x| x.is_nan()),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => false,
    }
}

/// A row over constants is its own evaluation, unless that faults: then the run shall.
fn constant(site: &Site<'_, '_>) -> Option<Becomes> {
    let &Site { editor, def, attrs, args, ty } = site;
    if args.is_empty() || def.lowering == Lowering::Probe || def.lowering.is_host() {
        return None;
    }
    // Elementwise: f of the numbers a, b, … repeated is f(a, b, …) repeated.
    if matches!(def.lowering, Lowering::Map(_) | Lowering::Convert) {
        let numbers = args.iter().map(|v| editor.number(*v)).collect::<Option<Vec<Array>>>();
        if let Some(numbers) = numbers {
            let numbers: Vec<&Array> = numbers.iter().collect();
            let value = (def.eval)(def, &numbers, attrs, &Type::scalar(ty.dtype)).ok();
            return value.filter(|value| !has_nan(value)).map(Becomes::Number);
        }
    }
    // Repeated numbers stay as they are: they are free in fused loops.
    if def.lowering == Lowering::View(View::Broadcast) || ty.elements() > LITERAL_ELEMENTS {
        return None;
    }
    let literals = args.iter().map(|v| editor.literal(*v)).collect::<Option<Vec<&Array>>>()?;
    let value = (def.eval)(def, &literals, attrs, ty).ok().filter(|value| !has_nan(value))?;
    let (def, attrs) = literal(value);
    Some(Becomes::Op(def, attrs, vec![]))
}

/// One identity of a row.
struct Rewrite {
    def: &'static OpDef,
    #[allow(dead_code, reason = "the law is for the reader and the tests")]
    law: &'static str,
    apply: fn(&Site<'_, '_>) -> Option<Becomes>,
}

const fn law(def: &'static OpDef, law: &'static str, apply: fn(&Site<'_, '_>) -> Option<Becomes>) -> Rewrite {
    Rewrite { def, law, apply }
}

/// Every identity, row by row.
static REWRITES: &[Rewrite] = &[
    law(&ops::MUL, "x · 1 = x", |s| s.first_if(s.is(1, 1.0))),
    law(&ops::MUL, "1 · x = x", |s| s.second_if(s.is(0, 1.0))),
    law(&ops::MUL, "n · 0 = 0 (integers)", |s| s.second_if(s.is_int() && s.is(1, 0.0))),
    law(&ops::MUL, "0 · n = 0 (integers)", |s| s.first_if(s.is_int() && s.is(0, 0.0))),
    law(&ops::DIV, "x / 1 = x", |s| s.first_if(s.is(1, 1.0))),
    law(&ops::SUB, "x - 0 = x", |s| s.first_if(s.is(1, 0.0))),
    law(&ops::ADD, "x + (-0) = x", |s| s.first_if(s.is(1, -0.0))),
    law(&ops::ADD, "(-0) + x = x", |s| s.second_if(s.is(0, -0.0))),
    law(&ops::NEG, "-(-x) = x", |s| s.inner(&ops::NEG).map(|(_, args)| Becomes::Value(args[0]))),
    law(&ops::NOT, "¬¬p = p", |s| s.inner(&ops::NOT).map(|(_, args)| Becomes::Value(args[0]))),
    law(&ops::AND, "p ∧ true = p", |s| s.first_if(s.holds(1, true))),
    law(&ops::AND, "true ∧ p = p", |s| s.second_if(s.holds(0, true))),
    law(&ops::AND, "p ∧ false = false", |s| s.second_if(s.holds(1, false))),
    law(&ops::AND, "false ∧ p = false", |s| s.first_if(s.holds(0, false))),
    law(&ops::OR, "p ∨ false = p", |s| s.first_if(s.holds(1, false))),
    law(&ops::OR, "false ∨ p = p", |s| s.second_if(s.holds(0, false))),
    law(&ops::SELECT, "select(true, x, y) = x", |s| s.second_if(s.holds(0, true))),
    law(&ops::SELECT, "select(false, x, y) = y", |s| s.holds(0, false).then(|| Becomes::Value(s.args[2]))),
    law(&ops::SELECT, "select(p, x, x) = x", |s| s.second_if(s.args[1] == s.args[2])),
    law(&ops::CHECK, "check(all x) = check(x)", |s| {
        s.inner(&ops::ALL).map(|(_, x)| Becomes::Op(s.def, s.attrs.clone(), x.to_vec()))
    }),
    law(&ops::CONVERT, "x to its own type = x", |s| s.first_if(s.editor.ty(s.args[0]) == s.ty)),
    law(&ops::CONSTANT, "a literal of one number = that number, repeated", uniform_literal),
    law(&ops::RESHAPE, "x under its own shape = x", |s| s.first_if(s.editor.ty(s.args[0]) == s.ty)),
    law(&ops::RESHAPE, "a reshape of a reshape = the last one", reshape_of_reshape),
    law(&ops::RESHAPE, "a number repeated, reshaped = repeated", view_of_number),
    law(&ops::BROADCAST, "x on all axes = x", |s| s.first_if(s.editor.ty(s.args[0]) == s.ty)),
    law(&ops::BROADCAST, "a broadcast of a broadcast = one, axes composed", broadcast_of_broadcast),
    law(&ops::TRANSPOSE, "axes in their own order = x", |s| s.first_if(s.attrs.sizes("axes").is_sorted())),
    law(&ops::TRANSPOSE, "a transpose of a transpose = one, axes composed", transpose_of_transpose),
    law(&ops::TRANSPOSE, "a number repeated, transposed = repeated", view_of_number),
    law(&ops::REVERSE, "no axis backwards = x", |s| s.first_if(s.attrs.sizes("axes").is_empty())),
    law(&ops::REVERSE, "backwards twice = x", |s| {
        s.inner(&ops::REVERSE).filter(|(attrs, _)| *attrs == s.attrs).map(|(_, args)| Becomes::Value(args[0]))
    }),
    law(&ops::REVERSE, "a number repeated, backwards = repeated", view_of_number),
    law(&ops::SLICE, "a slice of everything = x", slice_of_everything),
    law(&ops::SLICE, "a number repeated, sliced = repeated", view_of_number),
    law(&ops::SLICE, "a slice of what an update wrote = a slice of that", slice_of_written),
    law(&ops::SLICE, "some columns of vectors = these vectors", columns_of_vectors),
    law(&ops::DYNAMIC_SLICE, "a window at a known place where it fits = a slice", known_window),
    law(&ops::UPDATE, "everything replaced by u = u", update_of_everything),
    law(&ops::SUM, "a sum over no axes = x", |s| s.first_if(s.attrs.sizes("axes").is_empty())),
];

impl<'a> Site<'a, '_> {
    fn first_if(&self, holds: bool) -> Option<Becomes> {
        holds.then(|| Becomes::Value(self.args[0]))
    }

    fn second_if(&self, holds: bool) -> Option<Becomes> {
        holds.then(|| Becomes::Value(self.args[1]))
    }

    fn is_int(&self) -> bool {
        self.ty.dtype.is_integer()
    }

    /// Whether every element of an argument is this number, to the bit; an integer has one zero.
    fn is(&self, arg: usize, number: f64) -> bool {
        self.editor.number(self.args[arg]).is_some_and(|found| match found.data() {
            Data::F32(x) => f64::from(x[0]).to_bits() == number.to_bits(),
            Data::F64(x) => x[0].to_bits() == number.to_bits(),
            Data::I32(x) => f64::from(x[0]) == number,
            Data::I64(x) => x[0] == number as i64,
            Data::Bool(_) => false,
        })
    }

    /// Whether every element of an argument is this truth value.
    fn holds(&self, arg: usize, truth: bool) -> bool {
        self.editor.number(self.args[arg]).is_some_and(|found| *found.data() == Data::Bool(vec![truth]))
    }

    /// Attributes and arguments of the row that defines the first argument, if it is this one.
    fn inner(&self, def: &OpDef) -> Option<(&'a Attrs, &'a [Value])> {
        let (found, attrs, args) = self.editor.definition(self.args[0])?;
        (found == def).then_some((attrs, args))
    }
}

fn uniform_literal(site: &Site<'_, '_>) -> Option<Becomes> {
    let value = site.attrs.array("value");
    let bits = value.bits();
    let uniform = !bits.is_empty() && bits.iter().all(|x| *x == bits[0]);
    (uniform && !site.ty.shape.is_empty()).then(|| Becomes::Number(first_element(value)))
}

fn first_element(array: &Array) -> Array {
    Array::new([], each_element!(array.dtype(), T => T::data(T::of(array)[..1].to_vec())))
}

fn reshape_of_reshape(site: &Site<'_, '_>) -> Option<Becomes> {
    site.inner(&ops::RESHAPE).map(|(_, args)| Becomes::Op(site.def, site.attrs.clone(), args.to_vec()))
}

/// For views that cannot fault: all elements of a scalar's broadcast are that scalar, wherever they are read.
fn view_of_number(site: &Site<'_, '_>) -> Option<Becomes> {
    let (_, args) = site.inner(&ops::BROADCAST)?;
    if !site.editor.ty(args[0]).shape.is_empty() {
        return None;
    }
    let (def, attrs) = repeat(&site.ty.shape);
    Some(Becomes::Op(def, attrs, args.to_vec()))
}

/// Axis k of x is axis inner[k] of the first broadcast, which is axis outer[inner[k]] of the second.
fn broadcast_of_broadcast(site: &Site<'_, '_>) -> Option<Becomes> {
    let (attrs, args) = site.inner(&ops::BROADCAST)?;
    let outer = site.attrs.sizes("axes");
    let axes: Vec<usize> = attrs.sizes("axes").iter().map(|axis| outer[*axis]).collect();
    let attrs = Attrs::none().ints("shape", site.ty.shape.iter().copied()).ints("axes", axes);
    Some(Becomes::Op(site.def, attrs, args.to_vec()))
}

/// Axis k of the result is axis outer[k] of the first transpose, which is axis inner[outer[k]] of x.
fn transpose_of_transpose(site: &Site<'_, '_>) -> Option<Becomes> {
    let (attrs, args) = site.inner(&ops::TRANSPOSE)?;
    let inner = attrs.sizes("axes");
    let axes: Vec<usize> = site.attrs.sizes("axes").iter().map(|axis| inner[*axis]).collect();
    Some(Becomes::Op(site.def, Attrs::none().ints("axes", axes), args.to_vec()))
}

fn slice_of_everything(site: &Site<'_, '_>) -> Option<Becomes> {
    // Of equal extents with steps of one, a window starts at 0; a step only matters where there are two elements.
    site.first_if(site.editor.ty(site.args[0]) == site.ty)
}

/// Vectors that were written, also behind updates that wrote elsewhere: of other arrays it would keep what was written
/// beside them. What was written is read, never the array before: that may be overwritten by then.
fn slice_of_written(site: &Site<'_, '_>) -> Option<Becomes> {
    let [start, stop] = ["start", "stop"].map(|name| site.attrs.sizes(name));
    let mut array = site.args[0];
    loop {
        let (_, attrs, args) = site.editor.definition(array).filter(|(def, ..)| **def == ops::UPDATE)?;
        let (whole, window) = (&site.editor.ty(args[0]).shape, &site.editor.ty(args[1]).shape);
        let first = args[2..]
            .iter()
            .map(|v| site.editor.int(*v).and_then(|k| usize::try_from(k).ok()))
            .collect::<Option<Vec<usize>>>()?;
        let fits = (0..whole.len()).all(|k| attrs.sizes("step")[k] == 1 && first[k] + window[k] <= whole[k]);
        if !fits {
            return None;
        }
        if (0..whole.len()).all(|k| first[k] <= start[k] && stop[k] <= first[k] + window[k]) {
            vectors(site, args[1])?;
            let moved =
                |places: &[usize]| places.iter().zip(&first).map(|(place, first)| place - first).collect::<Vec<_>>();
            let attrs = Attrs::none()
                .ints("start", moved(&start))
                .ints("stop", moved(&stop))
                .ints("step", site.attrs.sizes("step"));
            return Some(Becomes::Op(&ops::SLICE, attrs, vec![args[1]]));
        }
        if (0..whole.len()).all(|k| start[k] < first[k] + window[k] && first[k] < stop[k]) {
            return None;
        }
        array = args[0];
    }
}

/// The row that gives these vectors, in columns, or in rows by a transpose.
fn vectors(site: &Site<'_, '_>, value: Value) -> Option<&'static OpDef> {
    let (def, _, args) = site.editor.definition(value)?;
    let def = if *def == ops::TRANSPOSE { site.editor.definition(args[0])?.0 } else { def };
    def.attrs.contains(&"columns").then_some(def)
}

/// Vectors that nobody reads have no part in what is differentiated: their values may coincide. They may be rows, by a
/// transpose.
fn columns_of_vectors(site: &Site<'_, '_>) -> Option<Becomes> {
    let (outer, of_outer, inside) = site.editor.definition(site.args[0])?;
    let axes: Vec<usize> =
        if *outer == ops::TRANSPOSE { of_outer.sizes("axes") } else { (0..site.ty.rank()).collect() };
    let (def, attrs, args) =
        if *outer == ops::TRANSPOSE { site.editor.definition(inside[0])? } else { (outer, of_outer, inside) };
    let (whole, rank) = (&site.editor.ty(site.args[0]).shape, site.ty.rank());
    if !def.attrs.contains(&"columns") {
        return None;
    }
    let along = axes.iter().position(|axis| axis + 1 == rank)?;
    let others = (0..rank).all(|k| k == along || whole[k] == site.ty.shape[k]);
    if !others || site.attrs.sizes("step")[along] != 1 {
        return None;
    }
    let first = attrs.sizes("columns")[0] + site.attrs.sizes("start")[along];
    let columns = Attrs::none()
        .ints("columns", [first, first + site.ty.shape[along]])
        .ints("degenerate", attrs.sizes("degenerate"))
        .ints("order", attrs.sizes("order"));
    match axes.is_sorted() {
        true => Some(Becomes::Op(def, columns, args.to_vec())),
        false => Some(Becomes::Transposed(def, columns, args.to_vec(), axes)),
    }
}

fn known_window(site: &Site<'_, '_>) -> Option<Becomes> {
    let starts = site.args[1..].iter().map(|v| site.editor.int(*v)).collect::<Option<Vec<i64>>>()?;
    let (extents, step) = (&site.editor.ty(site.args[0]).shape, site.attrs.sizes("step"));
    let sizes = &site.ty.shape;
    let fits = (0..sizes.len()).all(|k| ops::clamp_start(starts[k], extents[k], sizes[k], step[k]) == starts[k]);
    if !fits {
        return None;
    }
    let starts: Vec<usize> =
        starts.iter().map(|start| usize::try_from(*start).expect("a clamped start is not negative")).collect();
    let span = |k: usize| if sizes[k] == 0 { 0 } else { (sizes[k] - 1) * step[k] + 1 };
    let stops: Vec<usize> = (0..sizes.len()).map(|k| starts[k] + span(k)).collect();
    let attrs = Attrs::none().ints("start", starts).ints("stop", stops).ints("step", step);
    Some(Becomes::Op(&ops::SLICE, attrs, vec![site.args[0]]))
}

/// A window of the array's own shape that starts at 0, as it must.
fn update_of_everything(site: &Site<'_, '_>) -> Option<Becomes> {
    let everything =
        site.editor.ty(site.args[1]) == site.ty && site.args[2..].iter().all(|v| site.editor.int(*v) == Some(0));
    site.second_if(everything)
}

#[cfg(test)]
mod tests {
    #[test]
    fn laws_are_stated_once() {
        let mut laws: Vec<_> = super::REWRITES.iter().map(|rewrite| (rewrite.def.name, rewrite.law)).collect();
        let count = laws.len();
        laws.sort_unstable();
        laws.dedup();
        assert_eq!(laws.len(), count);
    }
}
