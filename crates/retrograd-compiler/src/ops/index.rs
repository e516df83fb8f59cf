//! Windows of arrays: slice, dynamic slice, update, add at.
//!
//! A window of `size` elements with step `step` along an axis starts inside the array so that it fits. A start that
//! does not fit is a fault of the run: an error with the user's line. Machine code clamps the access, so that it is
//! never wild.

use super::number::Number;
use super::shape::{indices, one, pick, shape_error, view};
use super::{gather, ops};
use crate::ir::{
    Array, Attr, Attrs, Builder, Contribution, DType, Error, ErrorKind, Lowering, OpDef, Rule, Sample, Type, Value,
    View, Write, each_element, each_number,
};

ops! {
    /// The window from `start` to `stop` (excluded) by `step`, along every axis. Backwards, it is this and `reverse`.
    SLICE = OpDef { attrs: &["start", "stop", "step"], infer: infer_slice, eval: eval_slice, samples: slice_samples, ..view("slice", View::Slice, &[Some(transpose_slice)]) };
    /// The window of extents `sizes` by `step` that starts at the given indices, one i64 argument per axis.
    DYNAMIC_SLICE = OpDef { arity: None, attrs: &["sizes", "step"], infer: infer_dynamic_slice, eval: eval_dynamic_slice, samples: dynamic_slice_samples, ..view("dynamic_slice", View::DynamicSlice, &[Some(transpose_dynamic_slice)]) };
    /// The first argument with a window replaced by the second; indices as for `dynamic_slice`.
    UPDATE = OpDef { rule: Rule::Linear(&[Some(transpose_update_base), Some(transpose_window)]), ..write("update", Write::Set) };
    /// The first argument with the second added to a window; indices as for `dynamic_slice`.
    ADD_AT = OpDef { rule: Rule::Linear(&[Some(|_, _, _, ct| Contribution::Dense(ct)), Some(transpose_window)]), ..write("add_at", Write::Add) };
}

const fn write(name: &'static str, write: Write) -> OpDef {
    OpDef {
        arity: None,
        attrs: &["step"],
        infer: infer_write,
        eval: eval_write,
        lowering: Lowering::Write(write),
        cost: 1,
        samples: write_samples,
        ..view(name, View::DynamicSlice, &[])
    }
}

/// The start that a window is clamped to: at least 0 and such that it fits.
pub fn clamp_start(start: i64, extent: usize, size: usize, step: usize) -> i64 {
    let last = extent as i64 - span(size, step) as i64;
    start.min(last).max(0)
}

/// Elements from the first to the last of a window, both included.
fn span(size: usize, step: usize) -> usize {
    if size == 0 { 0 } else { (size - 1).saturating_mul(step).saturating_add(1) }
}

fn infer_slice(_: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let (start, stop, step) = (attrs.sizes("start"), attrs.sizes("stop"), attrs.sizes("step"));
    let rank = types[0].rank();
    let lengths = start.len() == rank && stop.len() == rank && step.len() == rank;
    let fits = lengths && (0..rank).all(|k| start[k] <= stop[k] && stop[k] <= types[0].shape[k] && step[k] >= 1);
    if !fits {
        return shape_error(format!("`slice` from {start:?} to {stop:?} by {step:?} does not fit {}", types[0]));
    }
    Ok(Type::new(types[0].dtype, (0..rank).map(|k| (stop[k] - start[k]).div_ceil(step[k])).collect::<Vec<_>>()))
}

fn eval_slice(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let sources = window(&args[0].ty(), &attrs.sizes("start"), ty, &attrs.sizes("step"));
    Ok(pick(args[0], &ty.shape, sources.into_iter()))
}

/// Flat source indices of a window, in its order.
fn window(base: &Type, start: &[usize], window: &Type, step: &[usize]) -> Vec<usize> {
    let strides = base.strides();
    let flat = |index: Vec<usize>| (0..index.len()).map(|k| (start[k] + index[k] * step[k]) * strides[k]).sum();
    indices(&window.shape).map(flat).collect()
}

fn transpose_slice(b: &Builder, attrs: &Attrs, _: &[Value], ct: Value) -> Contribution {
    let indices = attrs.sizes("start").iter().map(|start| b.int(*start as i64)).collect();
    Contribution::At { def: &ADD_AT, update: ct, indices, attrs: Attrs::none().ints("step", attrs.sizes("step")) }
}

/// Checks index operands and that a window of these extents fits.
fn check_window(name: &str, base: &Type, sizes: &[usize], step: &[usize], starts: &[Type]) -> Result<(), Error> {
    let rank = base.rank();
    if starts.len() != rank || starts.iter().any(|ty| *ty != Type::scalar(DType::I64)) {
        return shape_error(format!("`{name}` needs one i64 index per axis of {base}, found {} indices", starts.len()));
    }
    let fits = sizes.len() == rank
        && step.len() == rank
        && (0..rank).all(|k| step[k] >= 1 && span(sizes[k], step[k]) <= base.shape[k]);
    if !fits {
        return shape_error(format!("`{name}`: a window of shape {sizes:?} by {step:?} does not fit {base}"));
    }
    Ok(())
}

fn infer_dynamic_slice(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let sizes = attrs.sizes("sizes");
    let [base, starts @ ..] = types else { return shape_error("`dynamic_slice` needs an array".into()) };
    check_window(def.name, base, &sizes, &attrs.sizes("step"), starts)?;
    Ok(Type::new(base.dtype, sizes))
}

fn infer_write(def: &OpDef, types: &[Type], attrs: &Attrs) -> Result<Type, Error> {
    let [base, update, starts @ ..] = types else {
        return shape_error(format!("`{}` needs an array and what to write", def.name));
    };
    check_window(def.name, base, &update.shape, &attrs.sizes("step"), starts)?;
    if update.dtype != base.dtype || (def.lowering == Lowering::Write(Write::Add) && base.dtype == DType::Bool) {
        return Err(Error::new(
            ErrorKind::DType,
            crate::ir::Pos::unknown(),
            format!("`{}` cannot write {update} into {base}", def.name),
        ));
    }
    Ok(base.clone())
}

/// Start indices as given, or the fault of the first that does not fit.
fn starts_of(base: &Type, window: &[usize], step: &[usize], starts: &[&Array]) -> Result<Vec<usize>, ErrorKind> {
    let check = |k: usize| {
        let start = starts[k].as_i64()[0];
        let clamped = clamp_start(start, base.shape[k], window[k], step[k]);
        if start == clamped { Ok(clamped as usize) } else { Err(ErrorKind::Bounds) }
    };
    (0..base.rank()).map(check).collect()
}

fn eval_dynamic_slice(_: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let (base, step) = (args[0].ty(), attrs.sizes("step"));
    let start = starts_of(&base, &ty.shape, &step, &args[1..])?;
    Ok(pick(args[0], &ty.shape, window(&base, &start, ty, &step).into_iter()))
}

fn eval_write(def: &OpDef, args: &[&Array], attrs: &Attrs, ty: &Type) -> Result<Array, ErrorKind> {
    let step = attrs.sizes("step");
    let start = starts_of(ty, args[1].shape(), &step, &args[2..])?;
    let targets = window(ty, &start, &args[1].ty(), &step);
    let Lowering::Write(how) = def.lowering else { panic!("this def writes: {}", def.name) };
    Ok(match how {
        Write::Set => each_element!(ty.dtype, T => gather::write(args, &targets, |_: T, u| u)),
        Write::Add => each_number!(ty.dtype, T => gather::write(args, &targets, T::plus)),
        Write::Mul | Write::Max | Write::Min => panic!("only scatters write so: {}", def.name),
    })
}

fn transpose_dynamic_slice(_: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::At {
        def: &ADD_AT,
        update: ct,
        indices: args[1..].to_vec(),
        attrs: Attrs::none().ints("step", attrs.sizes("step")),
    }
}

fn transpose_update_base(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    Contribution::Outside { def: &UPDATE, ct, window: b.ty(args[1]), indices: args[2..].to_vec(), attrs: attrs.clone() }
}

fn transpose_window(b: &Builder, attrs: &Attrs, args: &[Value], ct: Value) -> Contribution {
    let attrs = Attrs::none().ints("sizes", b.ty(args[1]).shape).ints("step", attrs.sizes("step"));
    let operands: Vec<Value> = [ct].into_iter().chain(args[2..].iter().copied()).collect();
    Contribution::Dense(b.op(&DYNAMIC_SLICE, attrs, &operands))
}

fn slice_samples(def: &OpDef) -> Vec<Sample> {
    let attrs = |start: &[usize], stop: &[usize], step: &[usize]| {
        Attrs::none()
            .ints("start", start.iter().copied())
            .ints("stop", stop.iter().copied())
            .ints("step", step.iter().copied())
    };
    vec![
        one(def, &[9], attrs(&[1], &[8], &[1])),
        one(def, &[4, 11], attrs(&[1, 0], &[3, 11], &[1, 3])),
        one(def, &[5], attrs(&[2], &[2], &[1])),
    ]
}

/// An index argument drawn from 0..=last.
fn index(last: usize) -> (Type, (f64, f64)) {
    (Type::scalar(DType::I64), (0.0, last as f64 + 0.999))
}

fn dynamic_slice_samples(def: &OpDef) -> Vec<Sample> {
    let attrs = |sizes: &[usize], step: &[usize]| {
        Attrs::none().ints("sizes", sizes.iter().copied()).ints("step", step.iter().copied())
    };
    let base = |shape: &[usize]| (Type::f64(shape), def.domain[0]);
    vec![
        Sample { args: vec![base(&[9]), index(5)], attrs: attrs(&[4], &[1]) },
        Sample { args: vec![base(&[4, 11]), index(3), index(4)], attrs: attrs(&[1, 3], &[1, 3]) },
    ]
}

fn write_samples(def: &OpDef) -> Vec<Sample> {
    let base = |shape: &[usize]| (Type::f64(shape), def.domain[0]);
    let attrs = |step: &[usize]| Attrs::none().with("step", Attr::Ints(step.iter().map(|k| *k as i64).collect()));
    vec![
        Sample { args: vec![base(&[9]), base(&[4]), index(5)], attrs: attrs(&[1]) },
        Sample { args: vec![base(&[4, 11]), base(&[1, 3]), index(3), index(4)], attrs: attrs(&[1, 3]) },
        Sample { args: vec![base(&[]), base(&[])], attrs: attrs(&[]) },
    ]
}
